import { describe, expect, setDefaultTimeout, test } from "bun:test";
import { readReports } from "../../../../src/http/body/read-reports.ts";
import { PIECE_BYTES_MAX } from "../../../../src/lib/text/long-json.ts";
import { BATCH_REPORTS_MAX } from "../../../../src/model/report-batch.ts";
import * as fc from "../../../support/fast-check.ts";
import { NOW_MS, RULES, read, readPlainly, stepped } from "./read-plainly.ts";

/*
 * Goal: whatever a body holds, it is read as parsing the whole of it would read it, in steps that are all short.
 * Method: bodies long enough that nothing reads them in one piece, of reports good and bad, wrapped and changed in all
 * kinds of ways, read by the server's reader and by the obvious one below.
 */

setDefaultTimeout(60_000);

const encoder = new TextEncoder();

/** Texts that look like what the reader cuts at, and what has to be escaped. */
const nasty = fc.oneof(
  fc.constantFrom('},{"', '"}]},{', "]}", "\\", "é😀\u2028", "\ufeff", "{", "locations", ""),
  fc.string({ unit: "binary", maxLength: 20 }).filter((text) => text.isWellFormed()),
);
const long = fc.nat({ max: 3 }).map((kind) => {
  const count = PIECE_BYTES_MAX + 10;
  return [
    '"'.concat("x".repeat(count), '"'),
    `[${"[],".repeat(count / 2)}1]`,
    `{"a":"${"\\n".repeat(count)}"}`,
    `${" ".repeat(count)}7`,
  ][kind]!;
});
const value = fc.oneof(
  { weight: 6, arbitrary: nasty.map((text) => JSON.stringify(text)) },
  { weight: 3, arbitrary: fc.json({ maxDepth: 2 }) },
  {
    weight: 2,
    arbitrary: fc.constantFrom("1", "-0", "1e3", "null", "true", "{}", "[[]]", '"+1"', String(NOW_MS)),
  },
  { weight: 1, arbitrary: long },
);
const name = fc.constantFrom(
  "device_id",
  "user_id",
  "speed",
  "brand",
  "os",
  "timestamp",
  "x",
  "__proto__",
  "is_mock",
  "\\u0073peed",
  "locations",
);
const member = fc.tuple(name, value).map(([key, text]) => `"${key}":${text}`);
const report = fc
  .tuple(fc.nat({ max: 5 }), fc.array(member, { maxLength: 3 }))
  .map(
    ([device, more]) =>
      `{"device_id":"bus-${device}","timestamp":${NOW_MS},"latitude":1.5,"longitude":2${more.map((each) => `,${each}`).join("")}}`,
  );
const element = fc.oneof({ weight: 12, arbitrary: report }, { weight: 1, arbitrary: value });

/** Enough of them that they are no single piece, parted by what JSON allows. */
const elements = fc
  .tuple(
    fc.array(element, { minLength: 1, maxLength: 12 }),
    fc.constantFrom(",", ",", ", ", ",\n"),
    fc.nat({ max: 2 }),
  )
  .map(([some, comma, pieces]) => {
    const once = some.join(comma);
    const times = Math.ceil((pieces * PIECE_BYTES_MAX) / once.length) + 1;
    return Array.from({ length: times }, () => once).join(comma);
  });
const wrapped = fc.tuple(elements, fc.nat({ max: 10 }), report, value).map(([list, how, one, other]) => {
  switch (how) {
    case 0:
      return `{"locations":[${list}],"more":${other}}`;
    case 1:
      return `{"more":${other},"locations":[${list}]}`;
    case 2:
      return `{"locations":${other},"locations":[${list}]}`;
    case 3:
      return `{"locations":[${list}],"locations":${other}}`;
    case 4:
      return `{"loc\\u0061tions":[${list}]}`;
    case 5:
      return `[${list}]`;
    case 6:
      return `${one.slice(0, -1)},"x":[${list}]}`;
    case 7:
      return `{"locations":[${list}]}${other.slice(0, 1)}`;
    default:
      return `{"locations":[${list}]}`;
  }
});
const PIECES = ["{", "}", "[", "]", ",", ":", '"', "\\", "0", " ", "\n", "\ufeff", "},{", '"x":1', "é"];
/** In most bodies nothing is changed, or one place. */
const changed = (texts: fc.Arbitrary<string>) =>
  fc
    .tuple(texts, fc.nat(), fc.constantFrom(...PIECES), fc.nat({ max: 3 }), fc.nat({ max: 2 }))
    .map(([text, where, piece, cut, how]) => {
      const at = where % (text.length + 1);
      return how === 0 ? text.slice(0, at) + piece + text.slice(at + cut) : text;
    });
const bytesOf = (texts: fc.Arbitrary<string>) =>
  fc
    .tuple(texts, fc.nat(), fc.constantFrom(null, null, null, 0xff, 0x80, 0xc3))
    .map(([text, where, byte]) => {
      const bytes = encoder.encode(text);
      if (byte !== null && bytes.length > 0) bytes[where % bytes.length] = byte;
      return bytes;
    });

describe("readReports()", () => {
  test("reads JSON as parsing the whole of it does", () => {
    fc.assert(
      fc.property(bytesOf(changed(wrapped)), (body) => {
        expect(read(body, "json")).toEqual(readPlainly(body, "json"));
      }),
      { numRuns: 400 },
    );
  });

  test("reads lines as parsing each of them does", () => {
    const lines = fc
      .array(fc.oneof(element, fc.constantFrom("", " \r", "\ufeff{}", "nope")), { maxLength: 30 })
      .map((all) => all.map((line) => line.replaceAll("\n", " ")).join("\n"));
    fc.assert(
      fc.property(bytesOf(changed(lines)), (body) => {
        expect(read(body, "ndjson")).toEqual(readPlainly(body, "ndjson"));
      }),
      { numRuns: 400 },
    );
  });

  const line = `{"device_id":"bus","timestamp":${NOW_MS},"latitude":1,"longitude":2}`;
  test.each([BATCH_REPORTS_MAX, BATCH_REPORTS_MAX + 1])(
    "counts %d reports, however they are parted",
    (count) => {
      for (const comma of [",", " ,", ",\n"]) {
        const body = encoder.encode(
          `{"locations":[${Array.from({ length: count }, () => line).join(comma)}]}`,
        );
        const { error, rows } = read(body, "json");
        expect(error ?? rows?.length).toBe(
          count > BATCH_REPORTS_MAX ? "at most 10,000 reports fit in one request" : count,
        );
      }
    },
  );

  /** Every body, of 2 MB, that takes the engines' parsers long for what it is. */
  const BYTES = 2_000_000;
  const HOSTILE: [string, string][] = [
    ["objects", `{"locations":[${"{},".repeat(BYTES / 3)}{}]}`],
    [
      "reports as usual",
      `{"locations":[${`{"device_id":"bus","timestamp":${NOW_MS},"latitude":1,"longitude":2},`.repeat(BYTES / 70)}{}]}`,
    ],
    ["arrays", `{"x":[${"[],".repeat(BYTES / 3)}[]]}`],
    ["arrays in arrays", "[".repeat(BYTES / 2) + "]".repeat(BYTES / 2)],
    ["objects in objects", `${'{"a":'.repeat(BYTES / 6)}1${"}".repeat(BYTES / 6)}`],
    ["members", `{${Array.from({ length: BYTES / 10 }, (_, index) => `"${index}":0`).join()}}`],
    ["members of one name", `{"x":0${',"device_id":0'.repeat(BYTES / 14)}}`],
    ["numbers", `{"locations":[${"1,".repeat(BYTES / 2)}1]}`],
    ["a number", `{"device_id":"a","timestamp":1${"0".repeat(BYTES)}}`],
    ["escapes", `{"device_id":"${"\\u0041".repeat(BYTES / 6)}"}`],
    ["white space", " ".repeat(BYTES)],
    ["blank lines", "\n".repeat(BYTES)],
    [
      "reports of one long member each",
      `{"locations":[${`{"x":"${"[".repeat(9000)}"},`.repeat(BYTES / 9010)}1]}`,
    ],
    ["lines of brackets", `${"[".repeat(PIECE_BYTES_MAX - 1)}\n`.repeat(BYTES / PIECE_BYTES_MAX)],
    ["lines", "{}\n".repeat(9999)],
  ];
  test.each(HOSTILE)("cuts %s into steps", (_what, text) => {
    const body = encoder.encode(text);
    for (const format of ["json", "ndjson"] as const) {
      const { value, count } = stepped(readReports(body, format, RULES));
      const stopsEarly = !value.ok || (format === "ndjson" && value.value.rejected.length === 0);
      // A step reads as much as is parsed at once, or walks over as much.
      if (!stopsEarly) expect(count).toBeGreaterThan(body.length / (2 * PIECE_BYTES_MAX));
    }
  });
});
