import { afterAll, beforeAll, expect, test } from "bun:test";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { type Connection, type Database, openDatabase } from "../../../../src/archive/duckdb/database.ts";
import * as fc from "../../../support/fast-check.ts";

const directory = mkdtempSync(join(tmpdir(), "wherehouse-vectors-"));
let database: Database;
let connection: Connection;

beforeAll(async () => {
  database = await openDatabase({
    threads: 1,
    memoryBytes: 100_000_000,
    directories: [directory],
    spillDirectory: directory,
    cachesFiles: false,
  });
  connection = await database.connect();
});

afterAll(() => {
  connection.close();
  database.close();
  rmSync(directory, { recursive: true });
});

/** Texts that are alike in their length, beginning or end, on both sides of what DuckDB keeps within a vector. */
const cell = fc.constantFrom(
  ...[null, "", "\uFEFF", "abcd", "abce", "abcdefghijkl", "abcdefghijkm", "abcdefghijklm", "abcdefghijkln"],
  ...["a".repeat(40), `${"a".repeat(39)}b`, "\u{1F68C}".repeat(4), "\u0000", 'q"uote'],
);
/** What JSON can carry: no infinity, and -0 as 0. */
const number = fc.double({ noNaN: true, noDefaultInfinity: true }).map((value) => value + 0);
/** Rows come in runs, as records do. */
const rows = fc
  .array(fc.tuple(fc.tuple(cell, cell), fc.option(number), fc.nat(3)), { maxLength: 700 })
  .map((runs) =>
    runs.flatMap(([texts, number, count]) => Array.from({ length: count + 1 }, () => ({ texts, number }))),
  );

test("a result has every text and number as it is, whatever is next to it", async () => {
  await fc.assert(
    fc.asyncProperty(rows, async (given) => {
      const result = await connection.run(
        `SELECT r.t[1], r.t[2], r.n::DOUBLE, r.n > 0
         FROM (SELECT unnest(from_json($rows, '[{"t": ["VARCHAR"], "n": "DOUBLE"}]')) AS r)`,
        { rows: JSON.stringify(given.map(({ texts, number }) => ({ t: texts, n: number }))) },
      );
      expect(result.texts(0)).toEqual(given.map(({ texts }) => texts[0]));
      expect(result.texts(1)).toEqual(given.map(({ texts }) => texts[1]));
      expect(result.tuples([0, 1])).toEqual(given.map(({ texts }) => JSON.stringify(texts)));
      expect([...result.numbers(2)]).toEqual(given.map(({ number }) => number ?? Number.NaN));
      expect(result.booleans(3)).toEqual(given.map(({ number }) => (number === null ? null : number > 0)));
    }),
    { numRuns: 40 },
  );
});

test("a column is not read as another type", async () => {
  const result = await connection.run("SELECT 1::DOUBLE, 'one'");
  expect(() => result.texts(0)).toThrow(/VARCHAR/);
  expect(() => result.numbers(1)).toThrow(/DOUBLE/);
  expect(() => result.booleans(1)).toThrow(/BOOLEAN/);
});
