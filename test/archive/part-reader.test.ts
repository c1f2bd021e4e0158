import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { DuckDBInstance } from "@duckdb/node-api";
import { openDatabase } from "../../src/archive/duckdb.ts";
import type { Part } from "../../src/archive/manifest.ts";
import { type ArchiveScan, createPartReader, type PartReader } from "../../src/archive/part-reader.ts";
import type { AppId, DeviceId, UserId } from "../../src/model/ids.ts";
import type { Order } from "../../src/time/range.ts";
import { batchOf, type Report } from "../support/batches.ts";
import { recordsOf } from "../support/page-records.ts";
import { seededRandom } from "../support/seeded-random.ts";

/**
 * Goal: what the reader finds in files is what a loop over their rows finds, whatever rows of memory lie over them.
 * Method: rows with ties, users that change and ids that would break a statement are written as Parquet by plain
 * statements, then the same questions are asked of both.
 */

const DIRECTORY = mkdtempSync(join(tmpdir(), "wherehouse-reader-"));
const DAY_MS = 86_400_000;
const BASE_MS = Date.UTC(2026, 0, 14);
const DEVICES = ["a", "'; DROP TABLE late; --", 'q"uote', "$device", "ä", "\u{1F68C}"];
const USERS = ["u", "v", "' OR true --"];

type Row = Readonly<{ app: string; day: number; file: string; report: Report }>;

const random = seededRandom(7);
const pick = <Value>(values: readonly Value[]): Value => values[Math.floor(random() * values.length)]!;

/** One row for each (app, device, time), over two files of one day and one of the next. */
const ROWS: Row[] = [];
for (const app of ["app", "other"]) {
  for (const device of DEVICES) {
    for (let step = 0; step < 40; step++) {
      const day = step % 2;
      const timestamp = BASE_MS + day * DAY_MS + Math.floor(step / 4) * 1000;
      if (
        ROWS.some(({ app: a, report: r }) => a === app && r.device_id === device && r.timestamp === timestamp)
      )
        continue;
      const accuracy = pick([null, 4.8, 50]);
      ROWS.push({
        app,
        day,
        file: day === 0 && step % 8 < 4 ? "00000001-001" : "00000001-000",
        report: {
          device_id: device,
          timestamp,
          latitude: step / 8,
          longitude: step - 40,
          user_id: pick(USERS),
          ...(accuracy === null ? {} : { horizontal_accuracy: accuracy }),
          ...(pick([true, false]) ? { is_mock: pick([true, false]), type: pick(["", "MOVING"]) } : {}),
        },
      });
    }
  }
}

const PARTS = [
  "day=2026-01-14/00000001-000",
  "day=2026-01-14/00000001-001",
  "day=2026-01-15/00000001-000",
].map((name): Part => ({ file: `${name}.parquet`, rows: 0, bytes: 0, crc: 0, apps: new Map() }));
const FIRST_DAY = PARTS.slice(0, 2);

let reader: PartReader;

function openReader(slots = 2, queueMax = 8): PartReader {
  return createPartReader({
    openDatabase: () =>
      openDatabase({
        threads: 2,
        memoryBytes: 500_000_000,
        directories: [DIRECTORY],
        spillDirectory: join(DIRECTORY, "spill"),
      }),
    pathOf: ({ file }) => join(DIRECTORY, file),
    slots,
    queueMax,
  });
}

beforeAll(async () => {
  const connection = await (await DuckDBInstance.create(":memory:")).connect();
  for (const { file } of PARTS) {
    const [folder, name] = file.split("/") as [string, string];
    const day = folder.endsWith("14") ? 0 : 1;
    const rows = ROWS.filter((row) => row.day === day && `${row.file}.parquet` === name);
    const json = join(DIRECTORY, "rows.json");
    writeFileSync(json, rows.map(({ app, report }) => JSON.stringify({ app_id: app, ...report })).join("\n"));
    mkdirSync(dirname(join(DIRECTORY, file)), { recursive: true });
    const texts =
      "tz_offset brand model os os_version sdk_version app_version_name app_version_code battery_status tracking_mode";
    const numbers = "vertical_accuracy altitude speed bearing battery_level";
    const nulls = [
      ...texts.split(" ").map((column) => `NULL::VARCHAR AS ${column}`),
      ...numbers.split(" ").map((column) => `NULL::DOUBLE AS ${column}`),
      "NULL::BOOLEAN AS network_status, NULL::BOOLEAN AS location_permission",
    ].join(", ");
    const columns =
      "{app_id: 'VARCHAR', device_id: 'VARCHAR', timestamp: 'BIGINT', latitude: 'DOUBLE', longitude: 'DOUBLE', user_id: 'VARCHAR', horizontal_accuracy: 'DOUBLE', is_mock: 'BOOLEAN', type: 'VARCHAR'}";
    await connection.run(
      `COPY (SELECT *, ${nulls} FROM read_json('${json}', format = 'newline_delimited', columns = ${columns}) ORDER BY app_id, device_id, timestamp)
       TO '${join(DIRECTORY, file)}' (FORMAT parquet, ROW_GROUP_SIZE 2048)`,
    );
  }
  reader = openReader();
});

afterAll(() => {
  reader.close();
  rmSync(DIRECTORY, { recursive: true, force: true });
});

const PATIENT = new AbortController().signal;

function scanOf(scan: Partial<ArchiveScan> = {}): ArchiveScan {
  const range = { startMs: BASE_MS, endMs: BASE_MS + 2 * DAY_MS };
  const all = { appId: "app" as AppId, deviceId: null, userId: null, accuracyMetersMax: null, parts: PARTS };
  return { ...all, range, late: null, ...scan };
}

/** The obvious way: every row looked at, late ones laid over those of the same device and time. */
function expected(scan: ArchiveScan, late: readonly Report[], order: Order): Report[] {
  const records = new Map<string, Report>();
  const keyOf = ({ device_id, timestamp }: Report) => `${timestamp} ${device_id}`;
  for (const { app, report } of ROWS) if (app === scan.appId) records.set(keyOf(report), report);
  for (const report of late) {
    records.set(keyOf(report), { user_id: "ANONYMOUS", ...records.get(keyOf(report)), ...report });
  }
  const { range, deviceId, userId, accuracyMetersMax } = scan;
  const matching = [...records.values()].filter(
    ({ timestamp, device_id, user_id, horizontal_accuracy = null }) =>
      (timestamp as number) >= range.startMs &&
      (timestamp as number) < range.endMs &&
      (deviceId === null || device_id === deviceId) &&
      (userId === null || user_id === userId) &&
      (accuracyMetersMax === null ||
        horizontal_accuracy === null ||
        (horizontal_accuracy as number) <= accuracyMetersMax),
  );
  const sign = order === "asc" ? 1 : -1;
  return matching.sort(
    (a, b) =>
      sign *
      ((a.timestamp as number) - (b.timestamp as number) ||
        Buffer.compare(Buffer.from(a.device_id as string), Buffer.from(b.device_id as string))),
  );
}

function askedOf<Value>(
  scan: ArchiveScan,
  use: Parameters<typeof reader.withSession<Value>>[1],
): Promise<Value> {
  return reader.withSession(PATIENT, use).then((found) => {
    if (!found.ok) throw new Error(`${scan.appId} was refused`);
    return found.value;
  });
}

describe("a session agrees with a loop over all rows", () => {
  const lates: Report[][] = [
    [],
    [
      { device_id: "a", timestamp: BASE_MS, latitude: 9, longitude: 9, speed: 3 },
      { device_id: "a", timestamp: BASE_MS + 500, latitude: 8, longitude: 8 },
      { device_id: DEVICES[1]!, timestamp: BASE_MS + 1000, latitude: 7, longitude: 7, user_id: "v" },
      {
        device_id: "\u{1F68C}",
        timestamp: BASE_MS + DAY_MS,
        latitude: 6,
        longitude: 6,
        horizontal_accuracy: 99,
      },
      { device_id: "new", timestamp: BASE_MS + DAY_MS - 1, latitude: 5, longitude: 5, brand: "'" },
    ],
  ];
  for (const late of lates) {
    test(`over ${late.length} late rows`, async () => {
      for (let round = 0; round < 60; round++) {
        const deviceId = pick([null, ...DEVICES, "nobody"]) as DeviceId | null;
        const startMs = BASE_MS + pick([0, 1000, 3500, DAY_MS]);
        const range = { startMs, endMs: startMs + pick([1, 1001, 5000, 2 * DAY_MS]) };
        const inScan = late.filter(
          ({ device_id, timestamp }) =>
            (deviceId === null || device_id === deviceId) &&
            (timestamp as number) >= range.startMs &&
            (timestamp as number) < range.endMs,
        );
        const scan = scanOf({
          deviceId,
          range,
          userId: pick([null, null, ...USERS]) as UserId | null,
          accuracyMetersMax: pick([null, null, 0, 4.8, 50]),
          late: inScan.length === 0 ? null : batchOf(inScan),
        });
        const order = pick(["asc", "desc"] as const);
        const [offset, limit] = [pick([0, 1, 5, 6, 30, 1000]), pick([0, 1, 7, 1000])];
        const all = expected(scan, inScan, order);
        const found = await askedOf(scan, async (session) => ({
          page: await session.page(scan, order, offset, limit),
          count: await session.count(scan),
          devices: await session.devices(scan),
          path: await session.path(scan),
        }));
        expect(recordsOf(found.page)).toEqual(all.slice(offset, offset + limit));
        expect(found.count).toBe(all.length);
        expect([...found.devices].sort()).toEqual(
          [...new Set(all.map(({ device_id }) => device_id as DeviceId))].sort(),
        );
        const path = Array.from({ length: found.path.count }, (_, row) => [
          String(found.path.deviceIds[row]),
          found.path.latitude[row]!,
        ]);
        const byDevice = expected(scan, inScan, "asc").sort((a, b) =>
          Buffer.compare(Buffer.from(a.device_id as string), Buffer.from(b.device_id as string)),
        );
        expect(path).toEqual(
          byDevice.map(({ device_id, latitude }) => [device_id as string, latitude as number]),
        );
      }
    });
  }
});

test("page() of late rows alone needs no file", async () => {
  const late = [{ device_id: "a", timestamp: BASE_MS, latitude: 1, longitude: 2 }];
  const scan = scanOf({ parts: [], late: batchOf(late) });
  const page = await askedOf(scan, (session) => session.page(scan, "asc", 0, 10));
  expect(recordsOf(page)).toEqual([{ ...late[0]!, user_id: "ANONYMOUS" }]);
});

test("scannedBytes counts what the files' row groups and columns make necessary", async () => {
  const connection = await (await DuckDBInstance.create(":memory:")).connect();
  const sizes = await connection.runAndReadAll(
    `SELECT sum(total_compressed_size)::DOUBLE AS bytes FROM parquet_metadata(['${FIRST_DAY.map(({ file }) => join(DIRECTORY, file)).join("','")}'])`,
  );
  const scan = scanOf({ parts: FIRST_DAY });
  const bytesOf = (other: Partial<ArchiveScan>, counts: boolean) =>
    askedOf(scan, async (session) => {
      const asked = { ...scan, ...other };
      if (counts) await session.count(asked);
      else await session.page(asked, "asc", 0, 1);
      return session.scannedBytes;
    });
  expect(await bytesOf({}, false)).toBe(Number(sizes.getRowObjectsJson()[0]!.bytes));
  expect(await bytesOf({}, true)).toBeLessThan(await bytesOf({}, false));
  expect(await bytesOf({}, true)).toBeGreaterThan(0);
  expect(await bytesOf({ appId: "zzz" as AppId }, true)).toBe(0);
  expect(await bytesOf({ range: { startMs: BASE_MS - 2, endMs: BASE_MS } }, true)).toBe(0);
});

test("withSession() ends a statement whose client has gone, and its slot serves the next", async () => {
  const alone = openReader(1, 1);
  const many = Array.from({ length: 400 }, () => PARTS).flat();
  const gone = new AbortController();
  const scan = scanOf({ parts: many });
  const asked = alone.withSession(gone.signal, async (session) => {
    setTimeout(() => gone.abort(), 30);
    for (;;) await session.path(scan);
  });
  expect(asked).rejects.toThrow("abort");
  await asked.catch(() => undefined);
  expect(alone.running).toBe(0);
  const counted = await alone.withSession(PATIENT, (session) => session.count(scanOf()));
  expect(counted).toEqual({ ok: true, value: ROWS.filter(({ app }) => app === "app").length });
  alone.close();
});

test("a missing or cut file rejects, and the next question is answered", async () => {
  const cut = { ...PARTS[0]!, file: "day=2026-01-16/00000001-000.parquet" };
  mkdirSync(join(DIRECTORY, "day=2026-01-16"), { recursive: true });
  writeFileSync(join(DIRECTORY, cut.file), "PAR1 and no more");
  for (const part of [cut, { ...PARTS[0]!, file: "day=2026-01-17/00000001-000.parquet" }]) {
    const scan = scanOf({ parts: [part] });
    expect(reader.withSession(PATIENT, (session) => session.page(scan, "asc", 0, 1))).rejects.toThrow();
  }
  expect((await reader.withSession(PATIENT, (session) => session.count(scanOf()))).ok).toBe(true);
});
