import { afterAll, expect, test } from "bun:test";
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { latLngToCell } from "h3-js";
import { ARCHIVE_COLUMNS } from "../../../../src/archive/columns.ts";
import { openDatabase, type Rows } from "../../../../src/archive/duckdb/database.ts";
import { createCellFinder } from "../../../../src/archive/write/h3-cells.ts";
import { encodeRows, readStagedSql } from "../../../../src/archive/write/staged-rows.ts";
import { JsonWriter } from "../../../../src/lib/text/json-writer.ts";
import { NUMBER_FIELDS, PROFILE_FIELDS, STATE_FIELDS } from "../../../../src/model/location-fields.ts";
import { createReportBatchBuilder, type ReportBatch } from "../../../../src/model/report-batch.ts";
import * as fc from "../../../support/fast-check.ts";
import { APP, batchOf } from "../../../support/reports/batches.ts";

const directory = mkdtempSync(join(tmpdir(), "wherehouse-staged-"));
mkdirSync(join(directory, "spill"));
const database = await openDatabase({
  threads: 1,
  memoryBytes: 256_000_000,
  directories: [directory],
  cachesFiles: true,
  spillDirectory: join(directory, "spill"),
});
const connection = await database.connect();

afterAll(() => {
  connection.close();
  database.close();
  rmSync(directory, { recursive: true });
});

function encoded(batch: ReportBatch): Uint8Array {
  const out = new JsonWriter(16); // Small, so that it has to grow.
  encodeRows(APP, batch, createCellFinder(), out);
  return out.written();
}

type Row = Record<string, string | number | boolean | null>;

let files = 0;

/** The rows as DuckDB reads them, by column name. */
async function readBack(bytes: Uint8Array): Promise<Row[]> {
  const path = join(directory, `${++files}.csv`);
  writeFileSync(path, bytes);
  const select = ARCHIVE_COLUMNS.map(({ name, type }) => {
    if (type === "BIGINT") return `${name}::DOUBLE`;
    return type === "UBIGINT" ? `${name}::VARCHAR` : name;
  });
  const rows = await connection.run(`SELECT ${select.join(", ")} FROM ${readStagedSql([path])}`);
  const columns = ARCHIVE_COLUMNS.map(({ type }, index) => columnOf(rows, type, index));
  return Array.from({ length: rows.count }, (_, row) =>
    Object.fromEntries(ARCHIVE_COLUMNS.map(({ name }, index) => [name, columns[index]![row]!])),
  );
}

function columnOf(rows: Rows, type: string, index: number): Row[string][] {
  if (type === "BOOLEAN") return rows.booleans(index);
  if (type === "VARCHAR" || type === "UBIGINT") return rows.texts(index);
  return [...rows.numbers(index)].map((value) => (Number.isNaN(value) ? null : value));
}

function cellOf(latitude: number, longitude: number): string {
  return BigInt(`0x${latLngToCell(latitude, longitude, 7)}`).toString();
}

const texts = fc.oneof(
  fc.constantFrom(
    "",
    " ",
    '"',
    '""',
    ",",
    '","',
    "NULL",
    "null",
    "\\",
    "'",
    " a ",
    "#",
    "true",
    "\u{1F68C}ä",
    "\u2028",
  ),
  fc.string({ unit: "grapheme", maxLength: 20 }).filter((text) => !/\p{Cc}/u.test(text)),
);
const numbers = fc
  .oneof(
    fc.constantFrom(
      0,
      -0,
      1e-7,
      1e21,
      5e-324,
      0.1 + 0.2,
      1.7976931348623157e308,
      -2.2250738585072014e-308,
      123456.789,
    ),
    fc.double({ noNaN: true, noDefaultInfinity: true }),
    fc.integer({ min: -100_000, max: 100_000 }).map((hundredths) => hundredths / 100),
  )
  .map((value) => value + 0); // -0 and 0 are one number.

const rowsOfAnything = fc.array(
  fc.record({
    device: texts,
    timestampMs: fc.oneof(fc.maxSafeInteger(), fc.integer({ min: 1.7e12, max: 1.8e12 })),
    latitude: fc.constantFrom(42.36, -90, 90, 1e-7, 0.1 + 0.2),
    longitude: fc.constantFrom(-71.06, 180, -180, 0),
    numbers: fc.array(fc.option(numbers), { minLength: 8, maxLength: 8 }),
    texts: fc.array(fc.option(texts), { minLength: 32, maxLength: 32 }),
    booleans: fc.array(fc.option(fc.boolean()), { minLength: 8, maxLength: 8 }),
  }),
  { minLength: 1, maxLength: 20 },
);

type AnyRow = typeof rowsOfAnything extends fc.Arbitrary<(infer One)[]> ? One : never;

function addRow(builder: ReturnType<typeof createReportBatchBuilder>, row: AnyRow): Row {
  const expected: Row = { app_id: APP, device_id: row.device, timestamp: row.timestampMs };
  builder.begin();
  NUMBER_FIELDS.forEach(({ name }, index) => {
    const value =
      name === "latitude" ? row.latitude : name === "longitude" ? row.longitude : row.numbers[index % 8]!;
    expected[name] = value;
    if (value !== null) builder.numbers[index] = value;
  });
  for (const [fields, tuple] of [
    [PROFILE_FIELDS, builder.profile],
    [STATE_FIELDS, builder.state],
  ] as const) {
    fields.forEach(({ name, type }, index) => {
      const value = type === "boolean" ? row.booleans[index % 8]! : row.texts[(index + fields.length) % 32]!;
      expected[name] = value;
      if (value !== null) tuple[index] = builder.text(String(value));
    });
  }
  builder.add(builder.text(row.device), row.timestampMs);
  expected.h3_cell = cellOf(row.latitude, row.longitude);
  return expected;
}

test("encodeRows() is read back by DuckDB exactly as it was", async () => {
  await fc.assert(
    fc.asyncProperty(rowsOfAnything, async (rows) => {
      const builder = createReportBatchBuilder(rows.length);
      const expected = rows.map((row) => addRow(builder, row));
      expect(await readBack(encoded(builder.build()))).toEqual(expected);
    }),
    { numRuns: 60 },
  );
});

test("encodeRows() gives a row without a place no cell, also after one with a place", async () => {
  const builder = createReportBatchBuilder(2);
  const device = builder.text("bus");
  builder.begin();
  builder.numbers[0] = 42.36;
  builder.numbers[1] = -71.06;
  builder.add(device, 1000);
  builder.begin();
  builder.add(device, 2000);
  const rows = await readBack(encoded(builder.build()));
  expect(rows.map(({ h3_cell }) => h3_cell)).toEqual([cellOf(42.36, -71.06), null]);
  expect(rows[1]).toMatchObject({ timestamp: 2000, latitude: null, longitude: null, user_id: null });
});

test("encodeRows() writes what is not carried as nothing, and an empty text as quotes", () => {
  const batch = batchOf([
    {
      device_id: 'a"b',
      timestamp: 1.7e12,
      latitude: 1,
      longitude: -0.5,
      type: "",
      is_mock: false,
      brand: "x,y",
    },
  ]);
  expect(new TextDecoder().decode(encoded(batch))).toBe(
    `"app","a""b",1700000000000,1,-0.5,,,,,,,,,"x,y",,,,,,,"",,,,false,,${cellOf(1, -0.5)}\n`,
  );
});
