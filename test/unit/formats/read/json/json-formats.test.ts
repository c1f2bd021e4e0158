import { describe, expect, test } from "bun:test";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import type { Format } from "../../../../../src/formats/read/format.ts";
import { FORMATS } from "../../../../../src/formats/read/formats.ts";
import { jsonTable } from "../../../../../src/formats/read/table/json-table.ts";
import * as fc from "../../../../support/fast-check.ts";
import { contentOf, readWhole, SAMPLES } from "../../../../support/formats/read-file.ts";
import { nativeDeno } from "../../../../support/native-deno.ts";
import { runInOwnProcess } from "../../../../support/own-process.ts";
import { jsonFindings } from "./json-findings.ts";
import { JSON_SAMPLES } from "./json-samples.ts";
import { LONG, type LongRead } from "./read-long.ts";

/** What holds for all formats of JSON alike, whatever is in a file. */

const MEBIBYTE = 1024 * 1024;
const READ_LONG = join(import.meta.dir, "read-long.ts");

function formatOf(name: string): Format {
  return FORMATS.find((format) => format.name === name)!;
}

function beginningOf(bytes: Uint8Array, name: string) {
  const text = new TextDecoder().decode(bytes);
  return { bytes, text: text.trimStart(), isWhole: true, name };
}

describe.each(JSON_SAMPLES)("%s", (path, formatName) => {
  const format = formatOf(formatName);
  const bytes = readFileSync(join(SAMPLES, path));

  test("is recognised as nothing else", () => {
    const recognised = FORMATS.filter((each) => each.recognise(beginningOf(bytes, path)) !== null);
    // What no program is known to write so is a table, which all others come before.
    const names = recognised.map(({ name }) => name).filter((name) => name !== jsonTable.name);
    expect(names).toEqual([formatName]);
  });

  test("reads the same in pieces of any size, and in UTF-16", async () => {
    const whole = await readWhole(format, contentOf(bytes));
    for (const pieceBytes of [1, 2, 3, 7, 64, 1000])
      expect(await readWhole(format, contentOf(bytes, { pieceBytes }))).toEqual(whole);
    const little = Buffer.from(`\ufeff${bytes.toString()}`, "utf16le");
    const big = Buffer.from(little).swap16();
    for (const [utf16, pieceBytes] of [
      [little, 1],
      [little, 7],
      [big, 100],
    ] as const) {
      const { points, skips, error } = await readWhole(format, contentOf(utf16, { pieceBytes }));
      expect({ points, skips, error }).toEqual({ points: whole.points, skips: whole.skips, error: null });
    }
  });

  test("gives the points before a cut at any byte, and then an error", async () => {
    const whole = await readWhole(format, contentOf(bytes));
    let countBefore = 0;
    for (let end = 0; end < bytes.length; end++) {
      const { points, error } = await readWhole(format, contentOf(bytes.subarray(0, end)));
      expect(points).toEqual(whole.points.slice(0, points.length));
      expect(points.length).toBeGreaterThanOrEqual(countBefore);
      countBefore = points.length;
      // Records need no end behind the last of them.
      if (format.placeUnit === "byte" && end < bytes.toString().trimEnd().length)
        expect(error).not.toBeNull();
    }
    expect(countBefore).toBe(whole.points.length);
  });

  test("throws nothing but FormatError, however it is damaged", async () => {
    const noise = fc.oneof(
      fc.uint8Array({ minLength: 1, maxLength: 8 }),
      fc
        .constantFrom(
          "NaN",
          "1e999",
          "null",
          "[]",
          "{}",
          '"\\ud800"',
          "-",
          '"__proto__":',
          "}",
          "]",
          '"',
          "\x1e",
        )
        .map((text) => new TextEncoder().encode(text)),
    );
    const places = fc.array(fc.tuple(fc.nat(bytes.length), fc.nat(12), noise), {
      minLength: 1,
      maxLength: 4,
    });
    await fc.assert(
      fc.asyncProperty(places, fc.integer({ min: 1, max: 300 }), async (places, pieceBytes) => {
        let damaged: Uint8Array = bytes;
        for (const [at, removed, added] of places)
          damaged = Buffer.concat([damaged.subarray(0, at), added, damaged.subarray(at + removed)]);
        const name = path.split("/").at(-1)!;
        for (const each of FORMATS) each.recognise(beginningOf(damaged, name));
        const { points } = await readWhole(format, contentOf(damaged, { pieceBytes }));
        for (const { latitude, longitude } of points)
          for (const number of [latitude, longitude])
            if (number !== null && !Number.isNaN(number)) expect(number).toBeFinite();
      }),
      { numRuns: 150 },
    );
  });
});

test("Deno reads all of them as Bun does", async () => {
  const child = Bun.spawn([nativeDeno(), "run", "-A", `${import.meta.dir}/json-findings-on-deno.ts`], {
    stdout: "pipe",
    stderr: "inherit",
  });
  expect(JSON.parse(await new Response(child.stdout).text())).toEqual(JSON.parse(await jsonFindings()));
});

test.each(Object.keys(LONG))(
  "memory stays where it is with %s, and what is beside it is read",
  async (name) => {
    const answer = await runInOwnProcess<LongRead>(READ_LONG, name);
    const isOpen = name === "open brackets";
    expect(answer).toMatchObject({
      points: isOpen ? [] : [{ latitude: 52.5, longitude: 13.4 }],
      skips: name === "closed brackets" ? { unreadable: 1 } : {},
      error: isOpen ? "the file is cut off at byte 104,857,619" : null,
    });
    expect(answer.grownBytes).toBeLessThan(100 * MEBIBYTE);
  },
);
