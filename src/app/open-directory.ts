import { join } from "node:path";
import type { Archive } from "../archive/archive.ts";
import { archivePaths } from "../archive/archive-files.ts";
import { type Database, type DatabaseOptions, openDatabase } from "../archive/duckdb/database.ts";
import { inspectArchive, openArchive } from "../archive/open-archive.ts";
import { createPartProcesses } from "../archive/write/engine/part-process.ts";
import { openPartWriter } from "../archive/write/part-writer.ts";
import { type OpenStreamLogOptions, openStreamLog } from "../cluster/log/open-stream-log.ts";
import {
  type OpenedReplicated,
  openReplicated,
  type QuarantineStream,
} from "../cluster/quarantine/open-replicated.ts";
import { type Damage, readAcknowledgedParts } from "../directory/damaged-files.ts";
import { directoryPaths } from "../directory/paths.ts";
import type { HotStore } from "../hot/hot-store.ts";
import { type CreateSalt, createRandomSalt } from "../lib/frames/head.ts";
import type { Scheduler } from "../lib/schedule/scheduler.ts";
import { nextTurn, systemTimers, type Timers } from "../lib/schedule/timers.ts";
import type { Clock } from "../model/time/clock.ts";
import type { Retention } from "../model/time/retention.ts";
import { type UtcDay, utcDayName, utcDayOf } from "../model/time/utc-day.ts";
import type { Files } from "../runtime/files.ts";
import type { StartHelper } from "../runtime/helper/helper.ts";
import { READING_SIZES } from "../service/export/export-source.ts";
import { createExports, type Exports } from "../service/export/exports.ts";
import { createExactIngest, type ExactIngest } from "../service/ingest/exact-ingest.ts";
import { createIngest, type Ingest } from "../service/ingest/ingest.ts";
import { openQuarantine } from "../service/quarantine/open-quarantine.ts";
import type { Quarantine } from "../service/quarantine/quarantine.ts";
import { Packing } from "../service/upkeep/packing.ts";
import { createSealSchedule, type SealSchedule } from "../service/upkeep/seal/schedule.ts";
import { createSeal, type SealReport, sequencesOf } from "../service/upkeep/seal/seal.ts";
import { createQuarantineSweeps, type QuarantineSweeps } from "../service/upkeep/sweeps.ts";
import type { EntryError, LogEntry } from "../wal/entry/entry.ts";
import type { LogRefusal, LogWrite, Wal } from "../wal/log.ts";
import type { ReplayProgress } from "../wal/replay.ts";
import { type LogRecovery, openWal } from "../wal/wal.ts";
import {
  ARCHIVE_QUERIES_MAX,
  ARCHIVE_QUEUE_MAX,
  type ArchiveConfig,
  EXPORT_STALL_MS,
  LOG_QUEUE_BYTES_MAX,
  LOG_STREAM_LIMITS,
  OLD_RECORDS_BOUNDS,
  type OldRecordsBounds,
  QUARANTINE_STREAM_LIMITS,
  SEAL_MEMORY_BYTES,
  SEGMENT_BYTES_MAX,
} from "./config.ts";

/** Builds what a data directory holds, in order: archive, log, memory, and what moves records between them. */

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
  /** The start can't lay this entry over memory: it sets it aside, and begins again without it. */
  onEntryLeftOut(failure: EntryError): void;
  /**
   * Memory lacks all or some of an entry that the log has: the process has to end, and the next start reads the log.
   */
  onBroken(error: unknown): void;
}

/** A data directory that this process owns, with all its unsealed records in memory. */
export interface OpenDirectory {
  readonly hot: HotStore;
  readonly log: Wal;
  readonly archive: Archive;
  readonly ingest: Ingest;
  /** Takes the reports of imports, which count exactly what is new. */
  readonly exactIngest: ExactIngest;
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

export interface OpenDirectoryOptions {
  readonly dataDir: string;
  readonly files: Files;
  readonly clock: Clock;
  /** Defaults to the machine's. */
  readonly timers?: Timers;
  readonly retention: Retention;
  /** Empty. */
  readonly hot: HotStore;
  /** Gives the time to lay reports over memory. */
  readonly scheduler: Scheduler;
  /** Whether to keep what changes after the start, for the live stream. */
  readonly keepsChanges?: boolean;
  readonly config: ArchiveConfig;
  /** Defaults to those of a server. */
  readonly oldRecords?: OldRecordsBounds;
  readonly sealDaysAtOnce?: number;
  readonly events: DirectoryEvents;
  readonly onProgress: OnReplayProgress;
  /** Breaks off the replay of a log of the directory's own, which rejects with an `AbortError`. */
  readonly signal?: AbortSignal;
  readonly release: () => void;
  /** The stream that is the log of a cluster's node; defaults to a log in the directory. */
  readonly stream?: DirectoryStream;
  /** Where DuckDB finds the archive and may write drafts; defaults to the archive itself. */
  readonly archiveDisk?: ArchiveDisk;
  /** Begins the processes that make parts and exports; by default this process makes both. */
  readonly startHelper?: StartHelper;
  /** Defaults to databases of the directory's own. */
  readonly archiveEngine?: ArchiveEngine;
  readonly segmentBytesMax?: number;
  /** How long a client may take nothing of an export before it ends; defaults to a minute. */
  readonly exportStallMs?: number;
  /** Makes salts of the log and names of scratch directories; defaults to random ones. */
  readonly createSalt?: CreateSalt;
}

/** The stream that is a node's log, the one that its quarantine goes through, and how far the node is in them. */
export interface DirectoryStream
  extends Pick<
    OpenStreamLogOptions,
    | "stream"
    | "fromMessage"
    | "lastTaken"
    | "idPrefix"
    | "asked"
    | "onFloor"
    | "onFailed"
    | "timers"
    | "signal"
  > {
  readonly quarantine: Pick<
    QuarantineStream,
    "stream" | "fromMessage" | "lastTaken" | "idPrefix" | "asked" | "onPosition" | "onFailed" | "timers"
  >;
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

type Close = () => unknown;

/**
 * Opens a directory that this process has locked: reads the archive, then replays the part of the log that the archive
 * does not cover. If it fails, it closes everything that it has opened.
 */
export async function openDirectory(options: OpenDirectoryOptions): Promise<OpenDirectory> {
  const opened: Close[] = [];
  try {
    return await openParts(options, opened);
  } catch (error) {
    for (const close of opened.reverse()) await close();
    throw error;
  }
}

/** Notes in `opened` how what it has opened is closed. */
async function openParts(options: OpenDirectoryOptions, opened: Close[]): Promise<OpenDirectory> {
  const { dataDir, files, hot, config, events, release } = options;
  const paths = directoryPaths(dataDir);
  const archiveDisk = options.archiveDisk ?? { directory: paths.archive, files };
  const archiveEngine = options.archiveEngine ?? OWN_ENGINE;
  const { archive, notes, handOverNewest } = await openArchive({
    files,
    directory: paths.archive,
    damagedDirectory: paths.damaged,
    limits: {
      threads: config.archiveThreads,
      memoryBytes: config.archiveMemoryBytes,
      queriesMax: ARCHIVE_QUERIES_MAX,
      queueMax: ARCHIVE_QUEUE_MAX,
    },
    timers: options.timers ?? systemTimers,
    pathOf: (file) => join(archiveDisk.directory, file),
    openDatabase: archiveEngine.openDatabase,
    onNewest: (appId, batch) => hot.restoreNewest(appId, batch),
  });
  opened.push(() => archive.close());
  async function beginReplay(): Promise<boolean> {
    hot.beginReplay();
    const hasAll = await handOverNewest();
    hot.setSealed(sequencesOf(archive.manifest), hasAll);
    return hasAll;
  }
  const hasAllNewest = await beginReplay();
  for (const note of [...notes, ...expiryNotes(archive, options)]) events.onArchiveNote(note);
  const { wal: log, recovery } = await openLog(
    options,
    archive.manifest.lastSequence + 1,
    async (failure) => {
      events.onEntryLeftOut(failure);
      hot.clear();
      await beginReplay();
    },
  );
  opened.push(() => log.close());
  for (const _ of hot.endReplay()) await nextTurn();
  if (options.keepsChanges === true) hot.keepChanges(log.lastSequence); // Before the log is followed.
  const { quarantine, quarantineSweeps, ...kept } = await openKept(options);
  opened.push(() => quarantine.close());
  const exports = createDirectoryExports(options, archiveDisk, archive);
  const packing = new Packing(hot, options.clock, options.timers ?? systemTimers);
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
    ...createIngests(options, { log, archive, schedule, recovery }),
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

/** The ways in for reports. */
function createIngests(
  options: OpenDirectoryOptions,
  opened: Pick<OpenDirectory, "log" | "archive" | "schedule" | "recovery">,
): Pick<OpenDirectory, "ingest" | "exactIngest"> {
  const { hot, events, stream, scheduler } = options;
  const { log, archive, schedule, recovery } = opened;
  const ingest = createIngest({
    log,
    hot,
    schedule,
    onRefusal: events.onRefusal,
    hasWholeLog: stream === undefined && recovery.readUpTo === Number.POSITIVE_INFINITY,
    scheduler,
  });
  const exactIngest = createExactIngest({
    ...options,
    archive: () => archive,
    acknowledgedParts: acknowledgedPartsOf(options),
    ingest,
  });
  return { ingest, exactIngest };
}

/** Reads which parts of the archive the operator has given up. */
function acknowledgedPartsOf({ dataDir, files }: OpenDirectoryOptions) {
  return () => readAcknowledgedParts(files, directoryPaths(dataDir).damaged);
}

/** Lays the log over memory, and makes it ready to be appended to. */
function openLog(
  options: OpenDirectoryOptions,
  sequenceMin: number,
  onReplayAgain: (failure: EntryError) => Promise<void>,
): Promise<{ readonly wal: Wal; readonly recovery: LogRecovery }> {
  const { dataDir, files, hot, events, onProgress, stream } = options;
  const callbacks = {
    queueBytesMax: LOG_QUEUE_BYTES_MAX,
    onEntry: ({ appId, batch, sequence }: LogEntry) => void hot.apply(appId, batch, sequence),
    onProgress: ({ replayedBytes, totalBytes }: ReplayProgress) => onProgress(replayedBytes, totalBytes),
    onWritten: (write: LogWrite) => events.onLogWritten?.(write),
  };
  if (stream !== undefined)
    return openStreamLog({ ...callbacks, ...stream, ...LOG_STREAM_LIMITS, coveredSequence: sequenceMin - 1 });
  const { log: directory, damaged: damagedDirectory } = directoryPaths(dataDir);
  return openWal({
    ...callbacks,
    files,
    directory,
    damagedDirectory,
    onReplayAgain,
    ...(options.signal === undefined ? {} : { signal: options.signal }),
    onBroken: events.onBroken,
    segmentBytesMax: options.segmentBytesMax ?? SEGMENT_BYTES_MAX,
    sequenceMin,
    ...(options.createSalt === undefined ? {} : { createSalt: options.createSalt }),
  });
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
interface SealParts extends Pick<OpenDirectory, "log" | "archive" | "recovery"> {
  readonly hasAllNewest: boolean;
  readonly archiveDisk: ArchiveDisk;
}

/** What makes parts where it has a process of its own. */
const PART_MAKER = new URL("./part-maker.ts", import.meta.url);

function createSchedule(options: OpenDirectoryOptions, parts: SealParts): SealSchedule {
  const { clock, retention, hot, config, events, startHelper } = options;
  const { archiveEngine = OWN_ENGINE, oldRecords = OLD_RECORDS_BOUNDS, sealDaysAtOnce = 1 } = options;
  const { timers = systemTimers, createSalt = createRandomSalt } = options;
  const { log, archive, recovery, hasAllNewest, archiveDisk } = parts;
  const onNote = events.onArchiveNote;
  const processes =
    startHelper === undefined
      ? null
      : createPartProcesses({ startHelper, script: PART_MAKER, timers, onNote });
  return createSealSchedule({
    seal: createSeal({
      hot,
      log,
      archive,
      readUpTo: recovery.readUpTo,
      hasAllNewest,
      clock,
      retention,
      openWriter: (signal) =>
        openPartWriter({
          ...archiveDisk,
          openDatabase: (database) => archiveEngine.openDatabase(database),
          memoryBytes: SEAL_MEMORY_BYTES,
          createSalt,
          processes,
          onNote,
          signal,
        }),
      daysAtOnce: sealDaysAtOnce,
      acknowledgedParts: acknowledgedPartsOf(options),
      hasFarDays: options.stream !== undefined,
    }),
    hot,
    clock,
    timers,
    intervalMs: config.sealIntervalMs,
    oldRecordsSeal: oldRecords.seal,
    oldRecordsMax: oldRecords.max,
    onSealed: events.onSealed,
    onFailed: events.onSealFailed,
    onLate: ({ lastMs }) => {
      const since = lastMs === null ? "the start" : new Date(lastMs).toISOString();
      onNote(
        `No seal has ended well since ${since}. Old records stay in memory, and in the log, until one does.`,
      );
    },
  });
}

function createDirectoryExports(options: OpenDirectoryOptions, disk: ArchiveDisk, archive: Archive): Exports {
  const { hot, clock, retention, scheduler, events, startHelper = null } = options;
  return createExports({
    startHelper,
    onNote: events.onArchiveNote,
    hot,
    clock,
    retention,
    scheduler,
    archive: () => archive,
    acknowledgedParts: acknowledgedPartsOf(options),
    sizes: READING_SIZES,
    pathOf: (file) => join(disk.directory, file),
    files: disk.files,
    archiveDirectory: disk.directory,
    scratchDirectory: archivePaths(disk.directory).scratch,
    stallMs: options.exportStallMs ?? EXPORT_STALL_MS,
  });
}

/** Opens the messages that clients sent and the server could not use. */
async function openKept(options: OpenDirectoryOptions) {
  const { dataDir, files, clock, retention, scheduler, events, createSalt, stream } = options;
  const { quarantine: directory, damaged: damagedDirectory } = directoryPaths(dataDir);
  const { onDamage } = events;
  const salts = createSalt === undefined ? {} : { createSalt };
  const own = { files, directory, damagedDirectory, scheduler, onDamage, ...salts };
  const opened: OpenedReplicated =
    stream === undefined
      ? await openQuarantine(own)
      : await openReplicated(own, { ...stream.quarantine, ...QUARANTINE_STREAM_LIMITS });
  const { quarantine } = opened;
  const quarantineSweeps = createQuarantineSweeps({ quarantine, files, directory, clock, retention });
  return { ...opened, quarantineSweeps };
}
