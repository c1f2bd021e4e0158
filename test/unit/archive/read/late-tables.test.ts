import { afterAll, expect, test } from "bun:test";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { type Connection, openDatabase } from "../../../../src/archive/duckdb/database.ts";
import type { UpperRows } from "../../../../src/archive/overlay-sql.ts";
import type { OverlayRows } from "../../../../src/archive/read/archive-scan.ts";
import {
  createLateTable,
  createLateTables,
  dropLateTable,
  LATE_TABLE,
} from "../../../../src/archive/read/late-tables.ts";
import { outcome } from "../../../support/rejection.ts";
import { type Report, rowBatchOf } from "../../../support/reports/batches.ts";
import { SMALL_DATABASE } from "../write/engine/part-maker.ts";

const directory = mkdtempSync(join(tmpdir(), "wherehouse-late-tables-"));
const database = await openDatabase({
  threads: 2,
  memoryBytes: 200_000_000,
  directories: [directory],
  spillDirectory: directory,
  cachesFiles: false,
});
const connection = await database.connect();
const other = await database.connect();
const PATIENT = new AbortController().signal;

afterAll(() => {
  connection.close();
  other.close();
  database.close();
  rmSync(directory, { recursive: true, force: true });
});

const TEXTS = ["", "null", 'q"uote', "$rows", "\\u0000", "back\\slash", "ä", "\u2028", "\u{1F68C}"];
const NUMBERS = [0, 0.1 + 0.2, 5e-324, -19_999.000_000_000_004, 99_999_999.999_999_99];

/** More than one text of rows; of most columns nothing, or only in rows far apart. */
const REPORTS: readonly Report[] = Array.from({ length: 10_000 }, (_, row) => ({
  device_id: `${TEXTS[row % TEXTS.length]}${row}`,
  timestamp: row === 0 ? Number.MAX_SAFE_INTEGER : 1_795_198_776_000 - row,
  latitude: 42.1 + row / 1e5,
  longitude: -71,
  altitude: NUMBERS[row % NUMBERS.length]!,
  ...(row % 3 === 0 ? { brand: TEXTS[row % TEXTS.length]! } : {}),
  ...(row === 9_999 ? { is_mock: false, battery_status: "Charging" } : {}),
}));

const LATE: OverlayRows = {
  days: [],
  *batches() {
    for (let start = 0; start < REPORTS.length; start += 3000)
      yield rowBatchOf(REPORTS.slice(start, start + 3000));
  },
};

const read = (columns: string) => connection.run(`SELECT ${columns} FROM ${LATE_TABLE}`);

test("createLateTable() holds every row as it is, until dropLateTable()", async () => {
  const columns = ["brand", "battery_status", "model", "altitude", "speed", "is_mock"];
  await createLateTable(connection, LATE, columns);
  const rows = await read(
    "device_id, timestamp::VARCHAR, brand, battery_status, model, altitude, speed, is_mock",
  );
  await dropLateTable(connection);
  const carried = (name: string) =>
    REPORTS.map((report) => (report as Record<string, unknown>)[name] ?? null);
  expect(rows.texts(0)).toEqual(carried("device_id") as string[]);
  expect(rows.texts(1)).toEqual(REPORTS.map(({ timestamp }) => String(timestamp)));
  expect(rows.texts(2)).toEqual(carried("brand") as string[]);
  expect(rows.texts(3)).toEqual(carried("battery_status") as string[]);
  expect(rows.texts(4)).toEqual(REPORTS.map(() => null));
  expect([...rows.numbers(5)]).toEqual(carried("altitude") as number[]);
  expect([...rows.numbers(6)]).toEqual(REPORTS.map(() => Number.NaN));
  expect(rows.booleans(7)).toEqual(carried("is_mock") as boolean[]);
  expect(await outcome(read("1"))).toThrow(/does not exist/);
});

test("createLateTable() leaves columns that nobody looks at empty, and ends with its client", async () => {
  await createLateTable(connection, LATE, ["brand"]);
  const rows = await read(
    "count(*)::DOUBLE, count(timestamp)::DOUBLE, count(brand)::DOUBLE, count(altitude)::DOUBLE",
  );
  await dropLateTable(connection);
  const counts = [0, 1, 2, 3].map((column) => rows.numbers(column)[0]!);
  expect(counts).toEqual([10_000, 10_000, 3334, 0]);
  const gone = AbortSignal.abort();
  expect(await outcome(createLateTable(connection, LATE, [], gone))).toThrow("abort");
  await dropLateTable(connection);
});

/** As many rows as `count()` says, by a version, and how often they were copied. */
function lateRows(version: string | null, count: () => number, onCopied: () => void = () => {}): OverlayRows {
  return {
    days: [],
    *batches() {
      onCopied();
      const rows = Array.from({ length: count() }, (_, row) => ({
        device_id: `device ${row}`,
        timestamp: Date.UTC(2026, 0, 14) + row,
        latitude: 1,
        longitude: 2,
        brand: "b",
      }));
      for (let start = 0; start < rows.length; start += 10_000)
        yield rowBatchOf(rows.slice(start, start + 10_000));
    },
    ...(version === null ? {} : { version: () => version }),
  };
}

async function countOver(
  tables: ReturnType<typeof createLateTables>,
  late: OverlayRows,
  columns: readonly string[] = ["brand"],
  by: Connection = connection,
): Promise<number> {
  const count = async function* (upper: UpperRows) {
    yield await by.run(`SELECT count(brand)::DOUBLE FROM ${upper.rows}`);
  };
  let found = -1;
  for await (const rows of tables.over({ connection: by, signal: PATIENT }, late, columns, count))
    found = rows.numbers(0)[0]!;
  return found;
}

async function tablesLeft(): Promise<number> {
  const rows = await connection.run("SELECT count(*)::DOUBLE FROM duckdb_tables()");
  return rows.numbers(0)[0]!;
}

test("over() copies rows once for as long as they are what they were, for every connection", async () => {
  const tables = createLateTables();
  let copied = 0;
  let count = 3;
  const late = (version: string | null) =>
    lateRows(
      version,
      () => count,
      () => copied++,
    );
  expect(await countOver(tables, late("1"))).toBe(3);
  expect(await countOver(tables, late("1"), [], other)).toBe(3);
  expect(copied).toBe(1);
  count = 4;
  expect(await countOver(tables, late("2"), ["brand"], other)).toBe(4);
  expect(await countOver(tables, late("2"))).toBe(4);
  expect(copied).toBe(2);
  expect(await countOver(tables, late("2"), ["brand", "model"])).toBe(4); // Not among what was copied.
  expect(copied).toBe(3);
  for (let round = 0; round < 2; round++) expect(await countOver(tables, late(null))).toBe(4);
  expect(copied).toBe(5);
});

test("over() has no question look at rows that came while a table was filled for another", async () => {
  const tables = createLateTables();
  let version = 1;
  let count = 1;
  const late: OverlayRows = {
    ...lateRows("", () => count),
    *batches() {
      yield* lateRows(null, () => count).batches();
      version++; // A report comes in behind the last batch.
      count++;
    },
    version: () => String(version),
  };
  expect(await countOver(tables, late)).toBe(1);
  expect(await countOver(tables, late)).toBe(2);
});

test("over() keeps so many rows and tables, none that is of no use any more, and leaves those in use alone", async () => {
  const tables = createLateTables(1300);
  const before = await tablesLeft();
  const large = (version: string) => lateRows(version, () => 500);
  const held = async function* (upper: UpperRows) {
    for (let version = 2; version < 6; version++)
      await countOver(tables, large(`large ${version}`), ["brand"], other);
    yield await connection.run(`SELECT count(*)::DOUBLE FROM ${upper.rows}`);
  };
  for await (const rows of tables.over({ connection, signal: PATIENT }, large("large 1"), ["brand"], held))
    expect(rows.numbers(0)[0]).toBe(500);
  expect(await tablesLeft()).toBeLessThanOrEqual(before + 2);
  for (let version = 0; version < 40; version++)
    await countOver(
      tables,
      lateRows(`small ${version}`, () => 2),
    );
  expect(await tablesLeft()).toBeLessThanOrEqual(before + 12);

  const gone = AbortSignal.abort();
  const asked = tables.over(
    { connection, signal: gone },
    lateRows("gone", () => 2),
    [],
    held,
  );
  expect(await outcome(Array.fromAsync(asked))).toThrow("abort");
  expect(
    await countOver(
      tables,
      lateRows("gone", () => 2),
    ),
  ).toBe(2);
  expect(await tablesLeft()).toBeLessThanOrEqual(before + 12);
});

test("a table that could not be dropped gives its place to the next one", async () => {
  const empty = await openDatabase(SMALL_DATABASE); // Names are alike in all that keep tables.
  const connection = await empty.connect();
  const countTables = async () =>
    (await connection.run("SELECT count(*)::DOUBLE FROM duckdb_tables()")).numbers(0)[0];
  const tables = createLateTables();
  let fails = true;
  const failing: Connection = {
    ...connection,
    run: (sql, ...given) =>
      fails && sql.startsWith("DROP") ? Promise.reject(new Error("no")) : connection.run(sql, ...given),
  };
  const ask = async () => {
    const by = { connection: failing, signal: PATIENT };
    await Array.fromAsync(
      tables.over(
        by,
        lateRows(null, () => 3),
        [],
        async function* () {},
      ),
    );
  };
  expect(await outcome(ask())).toThrow("no");
  expect(await countTables()).toBe(1);
  fails = false;
  await ask();
  expect(await countTables()).toBe(0);
  connection.close();
  empty.close();
});
