import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { DEFAULT_ARCHIVE_CONFIG } from "../../../src/app/config.ts";
import type { OpenDirectory } from "../../../src/app/directory.ts";
import { openDirectory } from "../../../src/app/open-directory.ts";
import { openSettings } from "../../../src/cli/directory/data-directory.ts";
import { directoryPaths } from "../../../src/directory/paths.ts";
import { createHotStore } from "../../../src/hot/hot-store.ts";
import { Scheduler } from "../../../src/lib/schedule/scheduler.ts";
import type { AppId } from "../../../src/model/ids.ts";
import { BATCH_REPORTS_MAX, type ReportBatch } from "../../../src/model/report-batch.ts";
import { type Clock, systemClock } from "../../../src/model/time/clock.ts";
import {
  DEFAULT_RETENTION,
  DEFAULT_RETENTION_DAYS,
  type Retention,
  startOfUtcDayMs,
} from "../../../src/model/time/retention.ts";
import { MS_PER_DAY } from "../../../src/model/time/units.ts";
import { utcDayStartMs } from "../../../src/model/time/utc-day.ts";
import { startHelper } from "../../../src/runtime/helper/spawn-helper.ts";
import { createNodeFiles } from "../../../src/runtime/node-files.ts";
import { openNodeSqlite } from "../../../src/runtime/node-sqlite.ts";
import { acquireSqliteLock } from "../../../src/runtime/sqlite-lock.ts";
import { WINDOW_DAYS } from "../../../src/service/upkeep/seal/plan.ts";
import type { YearFleet } from "../fleets/year-fleet.ts";
import { startArchiveServer } from "../servers/archive-server.ts";

/** The app of the key that a server makes for an empty directory. */
export const SERVED_APP = "default" as AppId;

export const MINUTES_PER_DAY = 1440;

/** The number of archived days within the retention; the others are in the window. */
export const ARCHIVED_DAYS_MAX = DEFAULT_RETENTION_DAYS - WINDOW_DAYS;

/** A few days per seal, so that memory stays at its usual size. */
const DAYS_A_SEAL = 7;

export interface ArchivedDirectory {
  readonly dataDir: string;
  /** Starts of the archived days, the oldest first. */
  readonly dayStartsMs: readonly number[];
  /** Records of the week in the log. */
  readonly unsealedRecords: number;
}

/** What a directory is made of. */
interface MadeOf {
  readonly archivedDays: number;
  /** The directory's retention; defaults to the program's default. */
  readonly retention?: Retention;
  /** The reports of the day with this start. */
  batchesOfDay(dayStartMs: number): Iterable<ReportBatch>;
}

export interface ArchivedDirectoryOptions extends Omit<MadeOf, "batchesOfDay"> {
  readonly fleet: YearFleet;
  /** The number of minutes with reports at the start of each day. */
  readonly minutesPerDay: number;
}

const made = new Map<string, Promise<ArchivedDirectory>>();

/**
 * Creates a directory with the fleet's reports of the last archived days and of the unsealed week. Shared by the
 * benches of a run, and removed at its end.
 */
export function archivedDirectory(options: ArchivedDirectoryOptions): Promise<ArchivedDirectory> {
  const { fleet, archivedDays, minutesPerDay } = options;
  const name = [fleet.deviceIds.length, archivedDays, minutesPerDay].join(" ");
  const batchesOfDay = (dayStartMs: number) => dayBatches(fleet, dayStartMs, minutesPerDay);
  const known = made.get(name) ?? makeArchivedDirectory({ ...options, batchesOfDay });
  made.set(name, known);
  return known;
}

/** Creates a directory with the reports of the last archived days and of the unsealed week. */
export async function makeArchivedDirectory(options: MadeOf): Promise<ArchivedDirectory> {
  const { archivedDays, retention = DEFAULT_RETENTION, batchesOfDay } = options;
  const dataDir = temporaryDataDir("archived");
  await makeFirstKey(dataDir);
  await setRetention(dataDir, retention);
  const startedMs = performance.now();
  const todayMs = startOfUtcDayMs(Date.now());
  const dayStart = (daysAgo: number) => todayMs - daysAgo * MS_PER_DAY;
  const directory = await openBenchDirectory(dataDir, systemClock, retention);
  let records = 0;
  for (let daysAgo = archivedDays + WINDOW_DAYS; daysAgo > 0; daysAgo--) {
    records += await report(directory, batchesOfDay(dayStart(daysAgo)));
    if (daysAgo % DAYS_A_SEAL === 1) await directory.schedule.sealNow();
  }
  await directory.schedule.sealNow();
  const dayStartsMs = [...directory.archive.manifest.days.keys()].map(utcDayStartMs);
  const unsealedRecords = directory.hot.recordCount;
  await directory.close();
  const seconds = (performance.now() - startedMs) / 1000;
  console.log(
    `  made: ${records.toLocaleString("en")} records of ${archivedDays} archived days and a week in ${seconds.toFixed(0)} s`,
  );
  return { dataDir, dayStartsMs, unsealedRecords };
}

/** An empty directory, removed when the process ends. */
export function temporaryDataDir(name: string): string {
  const dataDir = mkdtempSync(join(tmpdir(), `wherehouse-${name}-`));
  process.on("exit", () => rmSync(dataDir, { recursive: true, force: true }));
  return dataDir;
}

/** Starts a server to create the first key, which it does only for an empty directory. */
export async function makeFirstKey(dataDir: string): Promise<void> {
  await (await startArchiveServer(dataDir)).stop();
}

/** Sets the retention as the command does. */
async function setRetention(dataDir: string, retention: Retention): Promise<void> {
  if (retention === DEFAULT_RETENTION) return;
  const settings = await openSettings(
    "bench",
    dataDir,
    { files: createNodeFiles(), acquireLock: acquireSqliteLock, pid: process.pid },
    systemClock,
  );
  const set = await settings.setRetention(retention);
  if (!set.ok) throw new Error(`the retention can't be set: ${set.error.kind}`);
}

/** Opens a directory in this process as the server does. */
export function openBenchDirectory(
  dataDir: string,
  clock: Clock,
  retention: Retention = DEFAULT_RETENTION,
): Promise<OpenDirectory> {
  const fail = (what: unknown) => {
    throw new Error("the directory is not well", { cause: what });
  };
  const scheduler = new Scheduler();
  return openDirectory({
    dataDir,
    files: createNodeFiles(),
    openSqlite: openNodeSqlite,
    startHelper,
    clock,
    retention,
    hot: createHotStore(scheduler),
    scheduler,
    config: DEFAULT_ARCHIVE_CONFIG,
    events: {
      onRefusal: fail,
      onArchiveNote: fail,
      onSealed: () => {},
      onSealFailed: fail,
      onDamage: fail,
      onEntryLeftOut: fail,
      onBroken: fail,
    },
    onProgress: () => {},
    release: () => {},
  });
}

/** A day of the fleet in batches of maximum size. */
export function* dayBatches(
  fleet: YearFleet,
  dayStartMs: number,
  minutes: number = MINUTES_PER_DAY,
  devices?: readonly number[],
): Generator<ReportBatch> {
  const minutesMax = Math.max(1, Math.floor(BATCH_REPORTS_MAX / (devices ?? fleet.deviceIds).length));
  for (let minute = 0; minute < minutes; minute += minutesMax) {
    yield fleet.batch(dayStartMs + minute * 60_000, Math.min(minutesMax, minutes - minute), devices);
  }
}

/** Ingests batches like requests; returns the number of records. */
export async function report({ ingest }: OpenDirectory, batches: Iterable<ReportBatch>): Promise<number> {
  let records = 0;
  for (const batch of batches) {
    const answer = await ingest(SERVED_APP, batch);
    if (!answer.ok) throw new Error(`a batch of the bench is refused: ${JSON.stringify(answer.error)}`);
    records += batch.count;
  }
  return records;
}

/** The path of a file of the archive. */
export function archivePath(dataDir: string, file: string): string {
  return join(directoryPaths(dataDir).archive, file);
}
