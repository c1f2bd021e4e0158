import { describe, expect, spyOn, test } from "bun:test";
import { type Content, LongList, LongText, listOf } from "../../../src/clients/content.ts";
import { readContent } from "../../../src/clients/read-content.ts";
import { PIECE_BYTES_MAX } from "../../../src/lib/text/long-json.ts";
import * as fc from "../../support/fast-check.ts";

/*
 * Goal: what a client sends is read as parsing the whole of it would read it, in steps that are all short. Method:
 * bodies of every length and kind, read here and by the obvious way; hostile ones are counted, in steps and in bytes
 * that are parsed between two of them.
 */

const MIB = 1024 * 1024;

function read(text: string | Uint8Array): { content: Content; steps: number } {
  const steps = readContent(typeof text === "string" ? Buffer.from(text) : text);
  for (let count = 1; ; count++) {
    const { done, value } = steps.next();
    if (done === true) return { content: value, steps: count };
  }
}

/** The value of a body that is JSON, with lists and texts of any length as they are. */
function readValue(text: string): unknown {
  const { content } = read(text);
  if (content.kind !== "json") throw new Error(`the body is ${content.kind}`);
  return plain(content.value);
}

function plain(value: unknown): unknown {
  const list = listOf(value);
  if (list !== null) return [...list].map(plain);
  if (value instanceof LongText) return JSON.parse(`"${Buffer.from(value.bytes)}"`);
  if (typeof value !== "object" || value === null) return value;
  return Object.fromEntries(Object.entries(value).map(([name, member]) => [name, plain(member)]));
}

/** White space makes a body too long to be parsed at once, and changes nothing else. */
const BLANKS = " ".repeat(MIB);

describe("a short body", () => {
  test("is JSON where it begins with a brace or a bracket", () => {
    expect(read('{"a":[1]}').content).toEqual({ kind: "json", value: { a: [1] } });
    expect(read("\ufeff \r\n[1]").content).toEqual({ kind: "json", value: [1] });
    expect(read('{"a":').content).toEqual({ kind: "unreadable" });
  });

  test("is text otherwise, and a byte order mark is no part of it", () => {
    expect(read("lat=1&lon=2").content).toEqual({ kind: "text", text: "lat=1&lon=2" });
    expect(read("\ufefflat=1").content).toEqual({ kind: "text", text: "lat=1" });
    expect(read('"a"').content).toEqual({ kind: "text", text: '"a"' });
  });

  test("is empty where there is nothing in it but white space", () => {
    for (const text of ["", "\r\n", "\ufeff", "\ufeff \t"])
      expect(read(text).content).toEqual({ kind: "empty" });
  });

  test("is unreadable where it is no UTF-8", () => {
    for (const bytes of [[0xff], [0x7b, 0x22, 0xc3, 0x22, 0x7d], [0x61, 0xed, 0xa0, 0x80]]) {
      expect(read(Uint8Array.from(bytes)).content).toEqual({ kind: "unreadable" });
    }
  });
});

describe("a long body", () => {
  test("is read as parsing it would, as long as its values are short", () => {
    fc.assert(
      fc.property(fc.oneof(fc.object({ maxDepth: 4 }), fc.array(fc.object())), (value) => {
        const text = JSON.stringify(value);
        expect(readValue(`${BLANKS}${text}${BLANKS}`)).toEqual(JSON.parse(text));
      }),
      { numRuns: 200 },
    );
  });

  test("is unreadable where parsing it fails, wherever something was changed", () => {
    const text = JSON.stringify({ locations: [{ a: "é\\u00e9", b: [1.5e-7, true, null] }] });
    fc.assert(
      fc.property(
        fc.nat({ max: text.length }),
        fc.constantFrom("", '"', "]", "}", ",", "\\", "x"),
        (at, by) => {
          const changed = `{${text.slice(1, at + 1)}${by}${text.slice(at + 1)}`;
          const short = read(changed).content;
          const long = read(`${BLANKS}${changed}`).content;
          expect(long.kind).toBe(short.kind);
          if (long.kind === "json" && short.kind === "json")
            expect(plain(long.value)).toEqual(plain(short.value));
        },
      ),
    );
  });

  test("is a list of points, each made when it is asked for, of as many as any client sends and more", () => {
    const points = Array.from({ length: 10_000 }, (_, i) => ({ i, text: "x".repeat(100) }));
    const { content } = read(JSON.stringify({ locations: points, device_id: "phone", trip: {} }));
    const { locations, ...others } = (content as { value: { locations: unknown } }).value;
    expect(locations).toBeInstanceOf(LongList);
    expect([...listOf(locations)!]).toEqual(points);
    expect(others as object).toEqual({ device_id: "phone", trip: {} });
  });

  test("is parsed at once as it is where it is a batch as phones send them", () => {
    const feature = {
      type: "Feature",
      geometry: { coordinates: [1.5, 2.5] },
      properties: { motion: ["driving"] },
    };
    const text = JSON.stringify({ locations: Array.from({ length: 1000 }, (_, id) => ({ id, ...feature })) });
    expect(read(text)).toEqual({ content: { kind: "json", value: JSON.parse(text) }, steps: 1 });
    expect(read(`${text}}`).content).toEqual({ kind: "unreadable" });
  });

  test("is a list itself where it begins with a bracket", () => {
    const points = Array.from({ length: 9000 }, (_, i) => ({ i, text: "x".repeat(120) }));
    expect(readValue(JSON.stringify(points))).toEqual(points);
  });

  test("is unreadable with more elements than 10,000, in one list or in all", () => {
    const ones = (count: number) => `[${"1,".repeat(count - 1)}1]`;
    const body = (...lists: string[]) => `${BLANKS}{"a":1,"b":[${lists.join("],[")}]}`;
    expect(read(`${BLANKS}${ones(10_000)}`).content.kind).toBe("json");
    expect(read(`${BLANKS}${ones(10_001)}`).content.kind).toBe("unreadable");
    expect(read(`${BLANKS}{"a":${ones(6000)},"b":${ones(4000)}}`).content.kind).toBe("json");
    expect(read(`${BLANKS}{"a":${ones(6000)},"b":${ones(4001)}}`).content.kind).toBe("unreadable");
    expect(read(body(ones(2))).content.kind).toBe("json");
  });

  test("has a text that is too long as it stands in the body, and an empty value in place of other long ones", () => {
    const long = (value: unknown) => JSON.stringify({ a: 1, long: value, z: "é" });
    const photo = '"\\/\u0001é'.repeat(MIB / 4);
    expect(readValue(long(photo))).toEqual({ a: 1, long: photo, z: "é" });
    expect(readValue(long([{ b: 2, photo }]))).toEqual({ a: 1, long: [{ b: 2, photo }], z: "é" });
    expect(readValue(long([[1, 2], [photo], { in: [photo] }]))).toEqual({
      a: 1,
      long: [[1, 2], [], { in: [] }],
      z: "é",
    });
    expect(readValue(long({ b: { c: { d: { e: photo } } } }))).toEqual({
      a: 1,
      long: { b: { c: { d: {} } } },
      z: "é",
    });
    expect(readValue(`{"a":${"1".repeat(2 * MIB)}}`)).toEqual({ a: Number.NaN });
    expect(JSON.stringify(read(long(photo)).content)).toBe(
      '{"kind":"json","value":{"a":1,"long":"","z":"é"}}',
    );
  });

  test("has members of any name, and of a name that is given twice the last", () => {
    const text = `${BLANKS}{"long":"${BLANKS}","__proto__":1,"\\u0061":2,"a":3,"é":4,"toString":5,"":6}`;
    const { content } = read(text);
    const { value } = content as { value: object };
    expect(Object.entries(value).map(([name, member]) => [name, plain(member)])).toEqual([
      ["long", BLANKS],
      ["__proto__", 1],
      ["a", 3],
      ["é", 4],
      ["toString", 5],
      ["", 6],
    ]);
    expect(Object.getPrototypeOf(value)).toBe(Object.prototype);
  });

  test("has as many members as any client's, and no more", () => {
    const members = Array.from({ length: 2000 }, (_, i) => [`m${i}`, i]);
    const body = `${BLANKS}{"long":"${BLANKS}",${JSON.stringify(Object.fromEntries(members)).slice(1)}`;
    expect(readValue(body)).toEqual(Object.fromEntries([["long", BLANKS], ...members.slice(0, 255)]));
  });

  test("that is no JSON is unreadable, and one of blanks empty", () => {
    expect(read(`lat=1&${"x".repeat(PIECE_BYTES_MAX)}`).content).toEqual({ kind: "unreadable" });
    expect(read(BLANKS).content).toEqual({ kind: "empty" });
    expect(read(`\ufeff${BLANKS}`).content).toEqual({ kind: "empty" });
    expect(read(Buffer.from(`{"a":"\xff","b":"${"x".repeat(MIB)}"}`, "latin1")).content.kind).toBe(
      "unreadable",
    );
  });
});

describe("whatever is sent", () => {
  const filled = (piece: string, around = ["[", "1]"]) =>
    around.join(piece.repeat(Math.floor((16 * MIB - 10) / piece.length)));
  const element = (byteCount: number) => `{"a":${"[".repeat(byteCount / 2)}${"]".repeat(byteCount / 2)}},`;
  const manyMembers = (count: number) =>
    Array.from({ length: count }, (_, i) => `"m${i}":${"[".repeat(1900)}${"]".repeat(1900)},`).join("");
  const HOSTILE: Readonly<Record<string, string>> = {
    brackets: filled("[", ["", ""]),
    "lists in a list": filled("[],"),
    "objects in a list": filled("{},"),
    "objects in objects": filled('{"a":', ["", ""]),
    members: filled('"a":[],', ["{", '"b":1}']),
    "points of brackets": `{"locations":${filled(element(3000))}}`,
    "long points of brackets": `{"locations":${filled(element(60_000))}}`,
    "points with many members": `{"locations":${filled(`{${manyMembers(20)}"z":1},`)}}`,
    "members of many": `{${manyMembers(4000)}"z":1}`,
    "a text": filled("x", ['{"image":"', '"}']),
    blanks: filled(" ", ["", ""]),
    "blanks before it": filled(" ", ["", "{}"]),
    "a form": filled("a=1&", ["", ""]),
    "no UTF-8": `{${filled("\ud800", ["", ""]).slice(0, 4 * MIB)}`,
  };

  test.each(Object.keys(HOSTILE))("%s is read in steps, none of which parses much", (name) => {
    const body = Buffer.from(HOSTILE[name]!);
    let parsedBytes = 0;
    let parsedBytesMax = 0;
    const parse = JSON.parse;
    const spy = spyOn(JSON, "parse").mockImplementation((text: string) => {
      parsedBytes += text.length;
      parsedBytesMax = Math.max(parsedBytesMax, parsedBytes);
      return parse(text);
    });
    try {
      const steps = readContent(body);
      let count = 0;
      let step = steps.next();
      for (; step.done !== true; step = steps.next(), count++) parsedBytes = 0;
      const { value } = step;
      if (value.kind === "json" || value.kind === "empty") {
        expect(count).toBeGreaterThanOrEqual(body.length / PIECE_BYTES_MAX - 1);
      }
      if (value.kind === "json") drain(value.value);
    } finally {
      spy.mockRestore();
    }
    expect(parsedBytesMax).toBeLessThanOrEqual(32 * 8 * 1024);

    /** As clients do: they rest after some dozens of points. */
    function drain(value: unknown): void {
      const { locations } = value as { locations?: unknown };
      let index = 0;
      for (const _ of listOf(locations ?? value) ?? []) if (++index % 32 === 0) parsedBytes = 0;
    }
  });
});
