import { expect, setDefaultTimeout, test } from "bun:test";
import { addReport } from "../../../../src/model/report.ts";
import { createReportBatchBuilder } from "../../../../src/model/report-batch.ts";
import { ReportScanner } from "../../../../src/model/report-scanner.ts";
import * as fc from "../../../support/fast-check.ts";
import { NOW_MS, read, readPlainly, TIMES } from "./read-plainly.ts";

/*
 * Goal: reports that are read from their bytes, by what the ones before were like, are what parsing makes of them.
 * Method: bodies whose reports have the same members in the same order, but for some, with values of every kind that a
 * field may be sent; parted by all kinds of blanks, and with bytes changed or missing. Read by the server's reader, and
 * by parsing the whole.
 */

setDefaultTimeout(60_000);

const encoder = new TextEncoder();

const numbers = fc.oneof(
  fc.double({ noNaN: true, noDefaultInfinity: true }).map(String),
  fc.double({ min: -90, max: 90, noNaN: true }).map(String),
  fc
    .tuple(fc.integer({ min: -180, max: 180 }), fc.nat({ max: 9_999_999 }))
    .map(([whole, part]) => `${whole}.${part}`),
  fc.constantFrom(
    "0",
    "-0",
    "0.0",
    "90",
    "-90.0",
    "1e1",
    "1E-2",
    "00",
    "01",
    "1.",
    ".5",
    "-",
    "+1",
    "0.1e",
    "- 1",
  ),
  fc.constantFrom(
    "9007199254740991",
    "9007199254740992",
    "9007199254740993",
    "0.30000000000000004",
    `0.${"0".repeat(25)}1`,
  ),
  fc.stringMatching(/^-?[0-9]{1,20}\.[0-9]{1,20}$/),
);
const texts = fc.oneof(
  fc.constantFrom(
    "a",
    "bus-1",
    "bus-2",
    "driver-7",
    "",
    "+0",
    ".",
    "..",
    "x".repeat(128),
    "x".repeat(129),
    "é",
    "𝛑",
  ),
  fc.string({ maxLength: 6 }),
  fc.string({ unit: "binary", maxLength: 3 }),
);
const values: Record<string, fc.Arbitrary<string>> = {
  number: fc.oneof(
    { weight: 8, arbitrary: numbers },
    { weight: 1, arbitrary: fc.constantFrom("null", '"1"', "true") },
  ),
  text: fc.oneof(
    { weight: 8, arbitrary: texts.map((text) => JSON.stringify(text)) },
    {
      weight: 1,
      arbitrary: fc.constantFrom("null", "7", "[]", '"\u0001"', '"\\u0041"', '"\u007f"', '"', '"\ufeff"'),
    },
  ),
  boolean: fc.constantFrom("true", "false", "true", "false", "null", "tru", "truee", "falsy", "1", '"true"'),
  other: fc.constantFrom("1", '"x"', "null", "true", "[1]", "{}", '{"brand":"x"}', "-1.5", "1e5", '"é"'),
};
const MEMBERS: readonly (readonly [string, keyof typeof values])[] = [
  ["user_id", "text"],
  ["horizontal_accuracy", "number"],
  ["altitude", "number"],
  ["speed", "number"],
  ["brand", "text"],
  ["os", "text"],
  ["tz_offset", "text"],
  ["is_mock", "boolean"],
  ["network_status", "boolean"],
  ["activity", "other"],
  ["__proto__", "other"],
  ["n\\u0061me", "other"],
];
const usual = fc.constantFrom('"latitude":1.5', '"latitude":-33.123456', '"latitude":0.1234567890123456');
const report = (order: readonly (readonly [string, string])[], colon: string) =>
  fc
    .tuple(
      fc.constantFrom("bus-1", "bus-2", "b", "", "..", "é"),
      fc.constantFrom(NOW_MS, NOW_MS + 1, 5, `${NOW_MS}.0`, "null"),
      usual,
      fc.tuple(...order.map(([, kind]) => values[kind]!)),
      fc.array(fc.nat({ max: order.length }), { maxLength: 2 }),
      fc.nat({ max: 20 }),
    )
    .map(([device, timestamp, latitude, all, leftOut, odd]) => {
      const members = [
        `"device_id":"${device}"`,
        `"timestamp":${odd === 0 ? timestamp : NOW_MS}`,
        latitude,
        '"longitude":2',
        ...order
          .map(([name], index) => `"${name}":${all[index]}`)
          .filter((_, index) => !leftOut.includes(index)),
      ];
      if (odd === 1) members.reverse();
      if (odd === 2) members.push('"latitude":3', '"speed":1', '"speed":null');
      if (odd === 3) members.splice(0, 1);
      if (odd === 4) members[2] = '"latitude":null';
      return `{${members.map((each) => each.replace(":", colon)).join(",")}}`;
    });

const BLANKS = ["", "", "", " ", "\n  ", "\r\n\t", " ".repeat(70)];
const reports = fc
  .tuple(
    fc.shuffledSubarray([...MEMBERS], { maxLength: 8 }),
    fc.constantFrom(":", ":", ": ", " : "),
    fc.constantFrom(...BLANKS),
  )
  .chain(([order, colon, blanks]) =>
    fc
      .array(report(order, colon), { minLength: 1, maxLength: 12 })
      .map((all) => all.map((each) => each.replaceAll(",", `,${blanks}`).replace(/}$/, `${blanks}}`))),
  );
/** In most nothing is changed. */
const bytesOf = (bodies: fc.Arbitrary<string>) =>
  fc.tuple(bodies, fc.nat(), fc.nat({ max: 255 }), fc.nat({ max: 5 })).map(([body, where, byte, how]) => {
    const bytes = encoder.encode(body);
    const at = where % bytes.length;
    if (how === 0) bytes[at] = byte;
    if (how === 1) return bytes.slice(0, at);
    if (how === 2) return Uint8Array.of(...bytes.subarray(0, at), ...bytes.subarray(at + 1));
    return bytes;
  });

test("readReports() reads alike reports as parsing the whole does", () => {
  const commas = fc.constantFrom(",", ",", " ,", ",\n", ",,", "", "]");
  const lists = fc
    .tuple(reports, commas, fc.constantFrom("", "", "", ",", ",null"))
    .map(([all, comma, last]) => `{"locations":[${all.join(comma)}${last}]}`);
  fc.assert(
    fc.property(bytesOf(lists), (body) => {
      expect(read(body, "json")).toEqual(readPlainly(body, "json"));
    }),
    { numRuns: 3000 },
  );
});

test("readReports() reads alike lines as parsing each does", () => {
  const lines = fc
    .tuple(reports, fc.constantFrom("\n", "\n", " \r\n", "}\n", "\n\n"))
    .map(([all, end]) => all.map((each) => each.replaceAll("\n", " ")).join(end));
  fc.assert(
    fc.property(bytesOf(lines), (body) => {
      expect(read(body, "ndjson")).toEqual(readPlainly(body, "ndjson"));
    }),
    { numRuns: 3000 },
  );
});

test("readReports() reads texts that repeat beyond the end of a batch", () => {
  const all = Array.from({ length: 2500 }, (_, index) => {
    const brand = index % 999 === 0 ? `own-${index}` : "Google";
    return `{"device_id":"bus-${index % 7}","timestamp":${NOW_MS},"latitude":1,"longitude":2,"brand":"${brand}"}`;
  });
  const body = encoder.encode(`{"locations":[${all.join()}]}`);
  expect(read(body, "json")).toEqual(readPlainly(body, "json"));
});

test("readReports() refuses a body that is no UTF-8 where nobody looks for a text", () => {
  const body = encoder.encode(
    `{"locations":[{"x":"~","device_id":"bus","timestamp":${NOW_MS},"latitude":1,"longitude":2}]}`,
  );
  expect(read(body, "json").rows?.length).toBe(1);
  body[body.indexOf(0x7e)] = 0xff;
  expect(read(body, "json")).toEqual({ error: "the body is not valid UTF-8" });
});

test("ReportScanner reads usual reports itself: compact, indented, with members left out and unknown", () => {
  const full = {
    device_id: "bus-1",
    timestamp: NOW_MS,
    latitude: 53.447185,
    longitude: -2.91799123456789,
    battery_level: 81,
    brand: "Škoda",
    tz_offset: "+0",
    is_mock: false,
    activity: "walking",
  };
  const { brand: _, ...less } = { ...full, device_id: "bus-2", is_mock: true };
  for (const indent of [0, 2]) {
    const texts = [full, full, less, full, { ...full, brand: null }].map((each) =>
      JSON.stringify(each, null, indent),
    );
    const body = encoder.encode(texts.join());
    const [batch, parsed] = [createReportBatchBuilder(1), createReportBatchBuilder(1)];
    const scanner = new ReportScanner(body, TIMES);
    let at = 0;
    for (const text of texts) {
      const end = scanner.read(at, body.length, batch);
      expect(end).toBe(at + encoder.encode(text).length);
      scanner.addRow(batch);
      at = end + 1;
      expect(addReport(JSON.parse(text), TIMES, parsed)).toBeNull();
    }
    expect(batch.build().numbers.map((column) => [...column])).toEqual(
      parsed.build().numbers.map((column) => [...column]),
    );
  }
});
