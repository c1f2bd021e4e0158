import { afterAll, beforeAll, expect, test } from "bun:test";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { gunzipSync } from "node:zlib";
import { type DuckDBConnection, DuckDBInstance } from "@duckdb/node-api";
import { createManualClock } from "../../../../../src/model/time/clock.ts";
import { type ArchiveApp, createArchiveApp, removeArchiveApps } from "../../../../support/archive-app.ts";
import type { Report } from "../../../../support/reports/batches.ts";
import { seededRandom } from "../../../../support/seeded-random.ts";
import { csvRows, readTestData } from "../../../../support/test-data.ts";

/**
 * Goal: what the service says of archived days is what anybody finds in the files. Method: real tracks are sealed,
 * then answers are compared with statements written here, run by a DuckDB that shares nothing with the service.
 */

const MS_PER_DAY = 86_400_000;
const SAMPLE = new URL("../../../../../data/samples/bus_liverpool_route14_20260126.csv.gz", import.meta.url);
let app: ArchiveApp;
let sql: DuckDBConnection;
let files: string;
let devices: string[];
let dates: string[];
let recordCount: number;

/** Boston's first hours; where they are absent, the committed sample. */
function tracks(): Report[] {
  const boston = readTestData("tracks/gtfsrt_mbta_20221122.csv.gz");
  const rows = csvRows(boston ?? gunzipSync(readFileSync(SAMPLE)).toString());
  // Over two midnights: every third report a day earlier, every third a day later.
  return rows.slice(0, 60_000).map((columns, row) => {
    const [device_id, timestamp, latitude, longitude, , bearing] = columns;
    const shiftMs = ((row % 3) - 1) * MS_PER_DAY;
    return {
      device_id,
      timestamp: Number(timestamp) + shiftMs,
      latitude: Number(latitude),
      longitude: Number(longitude),
      horizontal_accuracy: row % 5 === 0 ? null : (row * 7) % 100,
      user_id: row % 4 === 0 ? null : `user-${Math.floor(row / 1000) % 7}`,
      ...(bearing === undefined || bearing === "" ? {} : { bearing: Number(bearing) }),
    };
  });
}

beforeAll(async () => {
  const reports = tracks();
  const times = reports.map(({ timestamp }) => timestamp as number);
  const newestMs = times.reduce((a, b) => Math.max(a, b));
  app = await createArchiveApp({ clock: createManualClock(newestMs + 20 * MS_PER_DAY) });
  for (let from = 0; from < reports.length; from += 5000) await app.store(reports.slice(from, from + 5000));
  const sealed = await app.seal();
  expect(app.directory.hot.recordCount).toBe(0);
  devices = [...new Set(reports.map(({ device_id }) => String(device_id)))];
  dates = sealed.days.slice();
  recordCount = new Set(reports.map(({ device_id, timestamp }) => `${device_id} ${timestamp}`)).size;
  files = join(app.dataDir, "archive", "day=*", "*.parquet");
  sql = await (await DuckDBInstance.create(":memory:")).connect();
});

afterAll(async () => {
  await app.close();
  await removeArchiveApps();
});

async function ask(statement: string): Promise<Record<string, unknown>[]> {
  const result = await sql.runAndReadAll(
    statement.replaceAll("FILES", `read_parquet('${files}', hive_partitioning = true)`),
  );
  return result.getRowObjectsJson() as Record<string, unknown>[];
}

const random = seededRandom(20260115);

function pick<Value>(values: readonly Value[]): Value {
  return values[Math.floor(random() * values.length)]!;
}

/** The members that both sides have, in the answer's terms. */
const COLUMNS = "device_id, timestamp, latitude, longitude, horizontal_accuracy, bearing, user_id";

function comparable(records: readonly Record<string, unknown>[]) {
  return records.map((record) =>
    COLUMNS.split(", ").map((name) => {
      const value = record[name] ?? null;
      return name === "timestamp" ? Number(value) : value;
    }),
  );
}

test("device history is what a statement over the files finds", async () => {
  for (let round = 0; round < 25; round++) {
    const device = pick(devices);
    const [first, last] = [pick(dates), pick(dates)].toSorted() as [string, string];
    const order = pick(["asc", "desc"]);
    const offset = pick([0, 1, 17, 200, 5000]);
    const accuracy = pick([null, 0, 30]);
    const filter = accuracy === null ? "true" : `NOT coalesce(horizontal_accuracy > ${accuracy}, false)`;
    const found = await ask(
      `SELECT ${COLUMNS} FROM FILES WHERE device_id = '${device}' AND day BETWEEN '${first}' AND '${last}' AND ${filter}
       ORDER BY timestamp ${order} LIMIT 51 OFFSET ${offset}`,
    );
    const { body } = await app.get(
      `/api/v1/devices/${encodeURIComponent(device)}/locations/history?start_date=${first}&end_date=${last}&order=${order}&offset=${offset}&limit=50${accuracy === null ? "" : `&min_accuracy=${accuracy}`}`,
    );
    expect(comparable(body.locations)).toEqual(comparable(found.slice(0, 50)));
    expect(body.pagination.has_more).toBe(found.length > 50);
  }
});

test("app-wide history and its count of devices are what statements over the files find", async () => {
  for (let round = 0; round < 10; round++) {
    const [first, last] = [pick(dates), pick(dates)].toSorted() as [string, string];
    const order = pick(["asc", "desc"]);
    const offset = pick([0, 3, 999, 20_000]);
    const found = await ask(
      `SELECT ${COLUMNS} FROM FILES WHERE day BETWEEN '${first}' AND '${last}'
       ORDER BY timestamp ${order}, device_id ${order} LIMIT 101 OFFSET ${offset}`,
    );
    const [counted] = await ask(
      `SELECT count(DISTINCT device_id)::INTEGER AS devices FROM FILES WHERE day BETWEEN '${first}' AND '${last}'`,
    );
    const { body } = await app.get(
      `/api/v1/locations/history?start_date=${first}&end_date=${last}&order=${order}&offset=${offset}`,
    );
    expect(comparable(body.locations)).toEqual(comparable(found.slice(0, 100)));
    expect(body.pagination).toEqual({
      count: Math.min(100, found.length),
      has_more: found.length > 100,
      total_devices: counted!.devices,
    });
  }
});

test("user history, its total and its distance are what statements over the files find", async () => {
  const meters = (from: string, to: string) =>
    `2 * 6371008.8 * asin(sqrt(pow(sin(radians(${to}.latitude - ${from}.latitude) / 2), 2)
     + cos(radians(${from}.latitude)) * cos(radians(${to}.latitude)) * pow(sin(radians(${to}.longitude - ${from}.longitude) / 2), 2)))`;
  for (let round = 0; round < 10; round++) {
    const user = `user-${round % 7}`;
    const date = pick(dates);
    const found = await ask(
      `SELECT ${COLUMNS} FROM FILES WHERE user_id = '${user}' AND day = '${date}' ORDER BY timestamp, device_id LIMIT 30`,
    );
    const [summed] = await ask(
      `WITH steps AS (SELECT *, lag({latitude: latitude, longitude: longitude}) OVER (PARTITION BY device_id ORDER BY timestamp) AS before
         FROM FILES WHERE user_id = '${user}' AND day = '${date}')
       SELECT count(*)::INTEGER AS records, coalesce(sum(${meters("before", "steps")}), 0) AS meters FROM steps`,
    );
    const { body } = await app.get(
      `/api/v1/users/${user}/locations/history?start_date=${date}&end_date=${date}&limit=30&distance_travelled=true`,
    );
    expect(comparable(body.locations)).toEqual(comparable(found));
    expect(body.pagination.total_estimated).toBe(summed!.records);
    expect(body.distance_travelled.meters).toBeCloseTo(Number(summed!.meters), 2);
    expect(body.query_info.source).toBe("archive");
  }
});

test("every record of the log is in the files once, with its cell", async () => {
  const [counted] = await ask(
    "SELECT count(*)::INTEGER AS records, count(DISTINCT (app_id, device_id, timestamp))::INTEGER AS keys, count(h3_cell)::INTEGER AS cells FROM FILES",
  );
  const { records, keys, cells } = counted!;
  expect([records, keys, cells]).toEqual([recordCount, recordCount, recordCount]);
});
