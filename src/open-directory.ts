import { join } from "node:path";
import type { Archive } from "./archive/archive.ts";
import { archivePaths } from "./archive/files/paths.ts";
import { inspectArchive, openArchive } from "./archive/open-archive.ts";
import { createPartEngine, type PartEngine } from "./archive/write/engine/part-engine.ts";
import { startPartProcess } from "./archive/write/engine/part-process.ts";
import { createPartWriter, type PartWriter } from "./archive/write/part-writer.ts";
import {
  ARCHIVE_QUERIES_MAX,
  ARCHIVE_QUEUE_MAX,
  type ArchiveConfig,
  EXPORT_STALL_MS,
  LOG_QUEUE_BYTES_MAX,
  OLD_RECORDS_BOUNDS,
  type OldRecordsBounds,
  SEAL_MEMORY_BYTES,
  SEGMENT_BYTES_MAX,
} from "./config.ts";
import { readAcknowledgedParts } from "./directory/acknowledged.ts";
import { directoryPaths } from "./directory/paths.ts";
import type { Damage } from "./directory/set-aside.ts";
import { type Database, type DatabaseOptions, openDatabase } from "./duckdb/database.ts";
import type { HotStore } from "./hot/hot-store.ts";
import { messageOf } from "./lib/message-of.ts";
import { nextTurn } from "./lib/schedule/next-turn.ts";
import type { Scheduler } from "./lib/schedule/scheduler.ts";
import { openQuarantine } from "./quarantine/open-quarantine.ts";
import type { Quarantine } from "./quarantine/quarantine.ts";
import type { Files } from "./runtime/files.ts";
import type { StartHelper } from "./runtime/helper/helper.ts";
import type { AcquireLock, LockOwner } from "./runtime/lock.ts";
import { READING_SIZES } from "./service/export/export-source.ts";
import { createExports, type Exports } from "./service/export/exports.ts";
import { createIngest, type Ingest } from "./service/ingest/ingest.ts";
import { Packing } from "./service/packing.ts";
import { createQuarantineSweeps, type QuarantineSweeps } from "./service/quarantine/sweeps.ts";
import { createSealSchedule, type SealSchedule } from "./service/seal/schedule.ts";
import { createSeal, type SealReport, sequencesOf } from "./service/seal/seal.ts";
import type { Clock } from "./time/clock.ts";
import type { Retention } from "./time/retention.ts";
import { type UtcDay, utcDayName, utcDayOf } from "./time/utc-day.ts";
import {
  type CreateSalt,
  type LogRecovery,
  type LogRefusal,
  type LogWrite,
  openWal,
  type Wal,
} from "./wal/wal.ts";

/** Builds what a data directory holds, in order: archive, log, memory, and what moves records between them. */

/** Another process owns the data directory. */
export class DirectoryInUseError extends Error {
  override readonly name = "DirectoryInUseError";
  constructor(dataDir: string, owner: LockOwner | null) {
    const holder = owner === null ? "another process" : `process ${owner.pid} (${owner.command})`;
    super(`The data directory "${dataDir}" is in use by ${holder}.`);
  }
}

/** What opening a directory needs of the machine. */
export interface DirectoryPlatform {
  readonly files: Files;
  readonly acquireLock: AcquireLock;
  readonly pid: number;
}

/** What an operator should know of the directory, as it happens. */
export interface DirectoryEvents {
  /** The log did not take a batch; its sender was told to try again. */
  onRefusal(refusal: LogRefusal): void;
  /** The log took batches. */
  onLogWritten?(write: LogWrite): void;
  /** Something is wrong with the archive, in a sentence. */
  onArchiveNote(note: string): void;
  onSealed(report: SealReport): void;
  /** Nothing is lost, and log and memory keep what they had; the next seal tries again. */
  onSealFailed(error: unknown): void;
  /** Bytes did not check out any more when they were to be written anew, later than at the start. */
  onDamage(damage: readonly Damage[]): void;
}

/** A data directory that this process owns, with all its unsealed records in memory. */
export interface OpenDirectory {
  readonly hot: HotStore;
  readonly log: Wal;
  readonly archive: Archive;
  readonly ingest: Ingest;
  readonly schedule: SealSchedule;
  readonly quarantine: Quarantine;
  readonly quarantineSweeps: QuarantineSweeps;
  readonly packing: Packing;
  /** Takes records out, as files. */
  readonly exports: Exports;
  readonly recovery: LogRecovery;
  /** What the start found damaged in log and quarantine. */
  readonly damage: readonly Damage[];
  /** Ends of writes that were cut short, and never acknowledged. */
  readonly tornTails: readonly Damage[];
  /** Looks at the archive's files; what is wrong goes to `onArchiveNote`. */
  inspect(): Promise<void>;
  /** Finishes what the log accepted, breaks off what can be done again, and gives the directory free. */
  close(): Promise<void>;
}

export type OnReplayProgress = (replayedBytes: number, totalBytes: number) => void;

/**
 * Takes the directory's lock; the result gives it free. Throws a `DirectoryInUseError` where another process has it.
 */
export async function takeDirectory(
  dataDir: string,
  command: string,
  { files, acquireLock, pid }: DirectoryPlatform,
  clock: Clock,
): Promise<() => void> {
  await files.makeDirectory(dataDir);
  const attempt = await acquireLock(directoryPaths(dataDir).lock, { pid, command, sinceMs: clock.nowMs() });
  if (!attempt.ok) throw new DirectoryInUseError(dataDir, attempt.owner);
  return attempt.release;
}

export interface OpenDirectoryOptions {
  readonly dataDir: string;
  readonly files: Files;
  readonly clock: Clock;
  readonly retention: Retention;
  /** Empty. */
  readonly hot: HotStore;
  /** Gives the time to lay reports over memory. */
  readonly scheduler: Scheduler;
  readonly config: ArchiveConfig;
  /** A server's where they are left out. */
  readonly oldRecords?: OldRecordsBounds;
  readonly sealDaysAtOnce?: number;
  readonly events: DirectoryEvents;
  readonly onProgress: OnReplayProgress;
  readonly release: () => void;
  /** Where DuckDB finds the archive and may write drafts; left out, that is the archive itself. */
  readonly archiveDisk?: ArchiveDisk;
  /** Begins the process that makes parts; left out, parts are made in this one. */
  readonly startHelper?: StartHelper;
  /** Left out, the directory has databases of its own. */
  readonly archiveEngine?: ArchiveEngine;
  readonly segmentBytesMax?: number;
  /** Left out, an export ends that nobody takes for a minute. */
  readonly exportStallMs?: number;
  /** Left out, salts of the log are random. */
  readonly createSalt?: CreateSalt;
}

export interface ArchiveDisk {
  /** A directory with the archive's files under their names. */
  readonly directory: string;
  readonly files: Files;
}

/** What reads and makes the archive's files. */
export interface ArchiveEngine {
  openDatabase(options: DatabaseOptions): Promise<Database>;
}

const OWN_ENGINE: ArchiveEngine = { openDatabase };

/** Opens a directory that is locked already: reads what the archive says, then replays what it does not cover. */
export async function openDirectory(options: OpenDirectoryOptions): Promise<OpenDirectory> {
  const { dataDir, files, hot, config, events, onProgress, release } = options;
  const paths = directoryPaths(dataDir);
  const archiveDisk = options.archiveDisk ?? { directory: paths.archive, files };
  const archiveEngine = options.archiveEngine ?? OWN_ENGINE;
  hot.beginReplay();
  const { archive, notes, hasAllNewest } = await openArchive({
    files,
    directory: paths.archive,
    damagedDirectory: paths.damaged,
    limits: {
      threads: config.archiveThreads,
      memoryBytes: config.archiveMemoryBytes,
      queriesMax: ARCHIVE_QUERIES_MAX,
      queueMax: ARCHIVE_QUEUE_MAX,
    },
    pathOf: (file) => join(archiveDisk.directory, file),
    openDatabase: archiveEngine.openDatabase,
    onNewest: (appId, batch) => hot.restoreNewest(appId, batch),
  });
  for (const note of [...notes, ...expiryNotes(archive, options)]) events.onArchiveNote(note);
  hot.setSealed(sequencesOf(archive.manifest), hasAllNewest);
  const { wal: log, recovery } = await openWal({
    files,
    directory: paths.log,
    damagedDirectory: paths.damaged,
    segmentBytesMax: options.segmentBytesMax ?? SEGMENT_BYTES_MAX,
    queueBytesMax: LOG_QUEUE_BYTES_MAX,
    sequenceMin: archive.manifest.lastSequence + 1,
    ...(options.createSalt === undefined ? {} : { createSalt: options.createSalt }),
    onEntry: ({ appId, batch, sequence }) => hot.apply(appId, batch, sequence),
    onProgress: ({ replayedBytes, totalBytes }) => onProgress(replayedBytes, totalBytes),
    onWritten: (write) => events.onLogWritten?.(write),
  });
  for (const _ of hot.endReplay()) await nextTurn();
  const { quarantine, quarantineSweeps, ...kept } = await openKept(options);
  const exports = createDirectoryExports(options, archiveDisk, archive);
  const packing = new Packing(hot, options.clock);
  const schedule = createSchedule(options, { log, archive, recovery, hasAllNewest, archiveDisk });
  return {
    hot,
    log,
    archive,
    quarantine,
    quarantineSweeps,
    packing,
    exports,
    recovery,
    damage: [...recovery.damage, ...kept.damage],
    tornTails: [recovery.tornTail, kept.tornTail].filter((tail) => tail !== null),
    schedule,
    ingest: createIngest({
      log,
      hot,
      schedule,
      onRefusal: events.onRefusal,
      hasWholeLog: recovery.readUpTo === Number.POSITIVE_INFINITY,
      scheduler: options.scheduler,
    }),
    async inspect() {
      for (const note of await inspectArchive(files, paths.archive, archive)) events.onArchiveNote(note);
    },
    async close() {
      packing.stop();
      await exports.stop();
      await schedule.stop();
      await quarantineSweeps.stop();
      await quarantine.close();
      await log.close();
      archive.close();
      release();
    },
  };
}

/** More than a server that was down for so long, or a day that has just ended, would explain. */
const EXPIRING_DAYS_TOLD = 31;

/** Much that is about to expire may do so for a setting that was lost, or a wrong clock: there is a day to say so. */
function expiryNotes({ manifest }: Archive, { clock, retention }: OpenDirectoryOptions): string[] {
  const firstDay = utcDayOf(retention.startMs(clock.nowMs()));
  const days = [...manifest.days.keys()].filter((day) => day < firstDay);
  if (days.length < EXPIRING_DAYS_TOLD) return [];
  return [
    `${days.length} days are past the retention of ${retention.text}, from ${utcDayName(Math.min(...days) as UtcDay)} on: ` +
      "they are in no answer, and a day after the next seal their files go. To keep them: settings set retention.",
  ];
}

/** What a seal needs beside the options. */
interface SealParts {
  readonly log: Wal;
  readonly archive: Archive;
  readonly recovery: LogRecovery;
  readonly hasAllNewest: boolean;
  readonly archiveDisk: ArchiveDisk;
}

function createSchedule(options: OpenDirectoryOptions, parts: SealParts): SealSchedule {
  const { dataDir, files, clock, retention, hot, config, events } = options;
  const { oldRecords = OLD_RECORDS_BOUNDS, sealDaysAtOnce = 1 } = options;
  const { log, archive, recovery, hasAllNewest, archiveDisk } = parts;
  const { damaged } = directoryPaths(dataDir);
  return createSealSchedule({
    seal: createSeal({
      hot,
      log,
      archive,
      readUpTo: recovery.readUpTo,
      hasAllNewest,
      clock,
      retention,
      openWriter: (signal) => openWriter(options, archiveDisk, signal),
      daysAtOnce: sealDaysAtOnce,
      acknowledgedParts: () => readAcknowledgedParts(files, damaged),
    }),
    hot,
    clock,
    intervalMs: config.sealIntervalMs,
    oldRecordsSeal: oldRecords.seal,
    oldRecordsMax: oldRecords.max,
    onSealed: events.onSealed,
    onFailed: events.onSealFailed,
  });
}

function createDirectoryExports(options: OpenDirectoryOptions, disk: ArchiveDisk, archive: Archive): Exports {
  const { dataDir, files, hot, clock, retention, scheduler } = options;
  const { damaged } = directoryPaths(dataDir);
  return createExports({
    hot,
    clock,
    retention,
    scheduler,
    archive: () => archive,
    acknowledgedParts: () => readAcknowledgedParts(files, damaged),
    sizes: READING_SIZES,
    pathOf: (file) => join(disk.directory, file),
    files: disk.files,
    archiveDirectory: disk.directory,
    scratchDirectory: archivePaths(disk.directory).scratch,
    stallMs: options.exportStallMs ?? EXPORT_STALL_MS,
  });
}

/** What clients sent and nobody could use. */
async function openKept(options: OpenDirectoryOptions) {
  const { dataDir, files, clock, retention, scheduler, events, createSalt } = options;
  const { quarantine: directory, damaged: damagedDirectory } = directoryPaths(dataDir);
  const { onDamage } = events;
  const salts = createSalt === undefined ? {} : { createSalt };
  const opened = await openQuarantine({ files, directory, damagedDirectory, scheduler, onDamage, ...salts });
  const { quarantine } = opened;
  const quarantineSweeps = createQuarantineSweeps({ quarantine, files, directory, clock, retention });
  return { ...opened, quarantineSweeps };
}

/** What makes parts where it has a process of its own. */
const PART_MAKER = new URL("./part-maker.ts", import.meta.url);

async function openWriter(
  options: OpenDirectoryOptions,
  { files, directory }: ArchiveDisk,
  signal: AbortSignal,
): Promise<PartWriter> {
  const scratchDirectory = join(archivePaths(directory).scratch, "seal");
  const database = {
    threads: 1, // The others belong to requests.
    memoryBytes: SEAL_MEMORY_BYTES,
    directories: [directory],
    spillDirectory: scratchDirectory,
    cachesFiles: false,
  };
  const engine = await openPartEngine(options, files, database, signal);
  return createPartWriter({ files, scratchDirectory, pathOf: ({ file }) => join(directory, file), engine });
}

/** A seal is worth more than the time of answers: where no other process can make its parts, this one does. */
async function openPartEngine(
  { startHelper, archiveEngine = OWN_ENGINE, events }: OpenDirectoryOptions,
  files: Files,
  database: DatabaseOptions,
  signal: AbortSignal,
): Promise<PartEngine> {
  if (startHelper !== undefined) {
    try {
      return await startPartProcess({ startHelper, script: PART_MAKER, database, signal });
    } catch (error) {
      signal.throwIfAborted();
      events.onArchiveNote(`This seal may keep answers waiting. ${messageOf(error)}.`);
    }
  }
  return createPartEngine(files, await archiveEngine.openDatabase(database));
}
