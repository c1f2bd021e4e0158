import { afterAll, expect, test } from "bun:test";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { openDatabase } from "../../../../src/archive/duckdb/database.ts";
import {
  createLateTable,
  dropLateTable,
  LATE_TABLE,
  type LateRows,
} from "../../../../src/archive/read/late-table.ts";
import { outcome } from "../../../support/rejection.ts";
import { type Report, rowBatchOf } from "../../../support/reports/batches.ts";

const directory = mkdtempSync(join(tmpdir(), "wherehouse-late-"));
const database = await openDatabase({
  threads: 2,
  memoryBytes: 100_000_000,
  directories: [directory],
  spillDirectory: directory,
  cachesFiles: false,
});
const connection = await database.connect();

afterAll(() => {
  connection.close();
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

const LATE: LateRows = {
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
