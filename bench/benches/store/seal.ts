import { join } from "node:path";
import { DuckDBInstance } from "@duckdb/node-api";
import { SEAL_MEMORY_BYTES } from "../../../src/app/config.ts";
import { KEY_COLUMNS } from "../../../src/archive/columns.ts";
import { directoryPaths } from "../../../src/directory/paths.ts";
import { createManualClock, systemClock } from "../../../src/model/time/clock.ts";
import { startOfUtcDayMs } from "../../../src/model/time/retention.ts";
import { MS_PER_DAY } from "../../../src/model/time/units.ts";
import { utcDayName, utcDayOf } from "../../../src/model/time/utc-day.ts";
import { WINDOW_DAYS } from "../../../src/service/upkeep/seal/plan.ts";
import { type Figure, median, readable } from "../../support/figures/report.ts";
import { batchesOf } from "../../support/fleets/batches.ts";
import { readBoston } from "../../support/fleets/boston.ts";
import { createRandom, pick } from "../../support/fleets/random.ts";
import { createYearFleet, type YearFleet } from "../../support/fleets/year-fleet.ts";
import type { Bench, BenchRun } from "../../support/run/bench.ts";
import { type ArchiveServer, startArchiveServer } from "../../support/servers/archive-server.ts";
import { getRequest } from "../../support/servers/load.ts";
import { measureOpenLoad, percentile } from "../../support/servers/open-load.ts";
import {
  archivePath,
  dayBatches,
  MINUTES_PER_DAY,
  makeFirstKey,
  openBenchDirectory,
  report,
  SERVED_APP,
  temporaryDataDir,
} from "../../support/store/archived-directory.ts";
import { openLog } from "../../support/store/log.ts";

const REQUESTS_PER_SECOND = 200;
const CONNECTIONS = 16;

export const bench: Bench = {
  question:
    "sealing full records: how many a second, against DuckDB alone, what requests notice of it, and bytes a record",
  sizes: {
    devices: { help: "devices that report every minute", smoke: 20, full: 1000 },
    dayMinutes: { help: "minutes of each day that are reported", smoke: 100, full: MINUTES_PER_DAY },
    days: { help: "days sealed one after the other while nothing else goes on", smoke: 1, full: 5 },
    servers: { help: "servers that seal while they are asked", smoke: 1, full: 3 },
    restMs: { help: "rest before a server counts as idle", smoke: 10, full: 2000 },
    positions: { help: "positions of the track, at most", smoke: 5000, full: 500_000 },
    seed: { help: "of the fleet", smoke: 21, full: 21 },
  },
  async run(run) {
    const fleet = createYearFleet({
      devices: run.size("devices"),
      seed: run.size("seed"),
      positionsMax: run.size("positions"),
    });
    await measureRate(run, fleet);
    await measureRequests(run, fleet);
    await measureBytes(run);
  },
};

/** The start of a UTC day. The first day that is due for sealing is one day older than the window. */
function dayStart(daysAgo: number): number {
  return startOfUtcDayMs(Date.now()) - daysAgo * MS_PER_DAY;
}

const FIRST_DUE = WINDOW_DAYS + 1;

/** Seals day after day in this process, without other work. */
async function measureRate(run: BenchRun, fleet: YearFleet): Promise<void> {
  const dataDir = temporaryDataDir("seal");
  const directory = await openBenchDirectory(dataDir, systemClock);
  const minutes = run.size("dayMinutes");
  const days = run.size("days");
  const ours: number[] = [];
  const control: number[] = [];
  let bytes = 0;
  let total = 0;
  for (let day = 0; day < days; day++) {
    const startMs = dayStart(FIRST_DUE + days - day);
    const records = await report(directory, dayBatches(fleet, startMs, minutes));
    const sealed = await directory.schedule.sealNow();
    if (sealed.records !== records) throw new Error(`${sealed.records} of ${records} records were sealed`);
    ours.push((records * 1000) / sealed.durationMs);
    bytes += sealed.bytes;
    total += records;
    const folder = archivePath(dataDir, `day=${utcDayName(utcDayOf(startMs))}`);
    control.push(await copyAlone(join(folder, "*.parquet"), join(dataDir, "copy.parquet"), records));
  }
  await directory.close();
  const figures: [Figure, Figure] = [
    { name: "memory to archive, one day of 25-field records", unit: "records/s", runs: ours },
    {
      name: "DuckDB alone: those files read, sorted, written, one thread",
      unit: "records/s",
      runs: control,
    },
  ];
  run.figures(figures);
  run.verdict("memory to archive", median(ours), "records/s", { atLeast: 150_000 });
  run.ratio("share of DuckDB alone", ...figures);
  run.note(`full records: ${readable(bytes / total)} bytes each in Parquet`);
}

/** The minimum: sort the records and write them. */
async function copyAlone(files: string, target: string, records: number): Promise<number> {
  const instance = await DuckDBInstance.create(":memory:", {
    threads: "1",
    memory_limit: `${SEAL_MEMORY_BYTES / 1_000_000}MB`,
  });
  const connection = await instance.connect();
  const startMs = performance.now();
  const copied = await connection.run(
    `COPY (FROM read_parquet('${files}', hive_partitioning = false) ORDER BY ${KEY_COLUMNS.join(", ")})
     TO '${target}' (FORMAT parquet, COMPRESSION zstd, ROW_GROUP_SIZE 20480, PARQUET_VERSION v2)`,
  );
  const seconds = (performance.now() - startMs) / 1000;
  if (copied.rowsChanged !== records) throw new Error(`DuckDB copied ${copied.rowsChanged} of ${records}`);
  connection.closeSync();
  instance.closeSync();
  return records / seconds;
}

/**
 * A new server starts with due days in its log, so it begins to seal when it is ready. Requests are sent until it has
 * finished, and then for as long again while it is idle. Its code is still being compiled while it seals, so the same
 * requests go to another new server with nothing to seal.
 */
async function measureRequests(run: BenchRun, fleet: YearFleet): Promise<void> {
  const rates: number[] = [];
  const p99s = {
    sealing: new Map<string, number[]>(),
    young: new Map<string, number[]>(),
    idle: new Map<string, number[]>(),
  };
  for (let index = 0; index < run.size("servers"); index++) {
    const dataDir = temporaryDataDir("due");
    await makeFirstKey(dataDir);
    const due = await writeDueLog(dataDir, fleet, run.size("dayMinutes"));
    const server = await startArchiveServer(dataDir);
    let young: ArchiveServer | null = null;
    try {
      const startMs = performance.now();
      const sealed = server.logLine(/Archived ([\d,]+) records .* in ([\d.]+) s/);
      let isSealed = false;
      sealed.then(
        () => {
          isSealed = true;
        },
        () => {
          isSealed = true; // Reported below.
        },
      );
      const sealing = await measureAll(server, fleet, () => !isSealed);
      const [, records, seconds] = await sealed;
      if (records !== due.toLocaleString("en")) throw new Error(`${records} of ${due} records were sealed`);
      rates.push(due / Number(seconds));
      const sealingMs = performance.now() - startMs;
      await Bun.sleep(run.size("restMs"));
      add(p99s.sealing, sealing);
      add(p99s.idle, await measureFor(server, fleet, sealingMs));
      await server.stop();
      young = await startArchiveServer(dataDir);
      add(p99s.young, await measureFor(young, fleet, sealingMs));
    } finally {
      await server.stop();
      await young?.stop();
    }
  }
  const rate = `while it answers ${2 * REQUESTS_PER_SECOND} requests/s`;
  run.figures([{ name: `memory to archive in a server, ${rate}`, unit: "records/s", runs: rates }]);
  for (const [name, sealing] of p99s.sealing) {
    const during: Figure = { name: `${name}, p99 during sealing`, unit: "ms", runs: sealing };
    const young = { name: `${name}, p99 idle, as young`, unit: "ms", runs: p99s.young.get(name)! };
    const idle = { name: `${name}, p99 idle, later`, unit: "ms", runs: p99s.idle.get(name)! };
    run.figures([during, young, idle]);
    run.ratio(`${name}, times idle as young`, during, young, { atMost: 3 });
    run.ratio(`${name}, times idle later`, during, idle);
  }
}

/** Writes two due days and yesterday directly into the log, as after a long stop. */
async function writeDueLog(dataDir: string, fleet: YearFleet, minutes: number): Promise<number> {
  const { wal } = await openLog(directoryPaths(dataDir).log, () => {});
  let due = 0;
  for (const daysAgo of [FIRST_DUE + 1, FIRST_DUE, 1]) {
    for (const batch of dayBatches(fleet, dayStart(daysAgo), minutes)) {
      const appended = await wal.append(SERVED_APP, batch);
      if (!appended.ok) throw new Error(`the log refused a batch: ${appended.error.kind}`);
      if (daysAgo > 1) due += batch.count;
    }
  }
  await wal.close();
  return due;
}

async function measureFor(server: ArchiveServer, fleet: YearFleet, durationMs: number): Promise<P99[]> {
  const untilMs = performance.now() + durationMs;
  return measureAll(server, fleet, () => performance.now() < untilMs);
}

type P99 = readonly [name: string, ms: number];

/** Runs both kinds of query concurrently. */
async function measureAll(server: ArchiveServer, fleet: YearFleet, goesOn: () => boolean): Promise<P99[]> {
  const { url, key } = server;
  const headers = { authorization: `Bearer ${key}` };
  const random = createRandom(22);
  const date = utcDayName(utcDayOf(dayStart(1)));
  const load = async (name: string, urlOf: () => string): Promise<P99> => {
    const next = () => getRequest(urlOf(), headers);
    const options = { url, requestsPerSecond: REQUESTS_PER_SECOND, connections: CONNECTIONS };
    return [name, percentile(await measureOpenLoad({ ...options, next, goesOn }), 0.99)];
  };
  return Promise.all([
    load("nearby", () => {
      const [latitude, longitude] = [42.26 + random() * 0.2, -71.16 + random() * 0.2];
      return `${url}/api/v1/devices/nearby?latitude=${latitude}&longitude=${longitude}&radius_miles=1&max_age_hours=48`;
    }),
    load("hot device page", () => {
      const id = pick(random, fleet.deviceIds);
      return `${url}/api/v1/devices/${id}/locations/history?start_date=${date}&end_date=${date}`;
    }),
  ]);
}

function add(runs: Map<string, number[]>, measured: readonly P99[]): void {
  for (const [name, ms] of measured) runs.set(name, [...(runs.get(name) ?? []), ms]);
}

async function measureBytes(run: BenchRun): Promise<void> {
  const boston = readBoston(run.size("positions"));
  if (boston === null) return;
  const dataDir = temporaryDataDir("boston");
  const newestMs = boston.at(-1)!.timestamp;
  const directory = await openBenchDirectory(
    dataDir,
    createManualClock(newestMs + (WINDOW_DAYS + 2) * MS_PER_DAY),
  );
  await report(directory, batchesOf(boston, 1000));
  const { records, bytes } = await directory.schedule.sealNow();
  await directory.close();
  run.note(`Boston track: ${records.toLocaleString("en")} records`);
  run.verdict("Boston track in Parquet", bytes / records, "bytes/record", { atMost: 20 });
}
