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
import { applyToMemory } from "../service/ingest/apply-entry.ts";
import { createEditProfile, type EditProfile } from "../service/ingest/edit-profile.ts";
import { createExactIngest, type ExactIngest } from "../service/ingest/exact-ingest.ts";
import { createIngest, type Ingest } from "../service/ingest/ingest.ts";
import { followLog } from "../service/ingest/memory-follower.ts";
import { openQuarantine } from "../service/quarantine/open-quarantine.ts";
import type { Quarantine } from "../service/quarantine/quarantine.ts";
import { MemoryCompactor } from "../service/upkeep/memory-compactor.ts";
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

/** Events of the directory that an operator should know about. */
export interface DirectoryEvents {
  /** The log refused a batch; the sender was asked to retry. */
  onRefusal(refusal: LogRefusal): void;
  onLogWritten?(write: LogWrite): void;
  /** A sentence about a problem of the archive. */
  onArchiveNote(note: string): void;
  onSealed(report: SealReport): void;
  /** Nothing is lost: log and memory retain the records, and the next seal tries again. */
  onSealFailed(error: unknown): void;
  /** Bytes failed their checksum after the start, when they were about to be rewritten. */
  onDamage(damage: readonly Damage[]): void;
  /** The start can't apply this log entry to memory: it quarantines the entry and begins again without it. */
  onEntryLeftOut(failure: EntryError): void;
  /** Memory lacks all or part of an entry that the log has: the process must end, and the next start reads the log. */
  onBroken(error: unknown): void;
}

/** A data directory that this process owns, with all its unsealed records in memory. */
export interface OpenDirectory {
  readonly hot: HotStore;
  readonly scheduler: Scheduler;
  readonly log: Wal;
  readonly archive: Archive;
  readonly ingest: Ingest;
  /** Accepts reports of imports, and counts exactly which are new. */
  readonly exactIngest: ExactIngest;
  readonly editProfile: EditProfile;
  readonly schedule: SealSchedule;
  readonly quarantine: Quarantine;
  readonly quarantineSweeps: QuarantineSweeps;
  readonly compactor: MemoryCompactor;
  readonly exports: Exports;
  readonly recovery: LogRecovery;
  /** Damage found by the start in log and quarantine. */
  readonly damage: readonly Damage[];
  /** The ends of interrupted writes, which were never acknowledged. */
  readonly tornTails: readonly Damage[];
  /** Checks the archive's files; problems go to `onArchiveNote`. */
  inspect(): Promise<void>;
  /** Finishes what the log accepted, aborts what can be repeated, and releases the directory. */
  close(): Promise<void>;
}

export type OnReplayProgress = (replayedBytes: number, totalBytes: number) => void;

export interface OpenDirectoryOptions {
  readonly dataDir: string;
  readonly files: Files;
  readonly clock: Clock;
  /** Defaults to the system's timers. */
  readonly timers?: Timers;
  readonly retention: Retention;
  readonly hot: HotStore;
  /** Shares the time for applying reports to memory. */
  readonly scheduler: Scheduler;
  /** Whether to retain changes after the start, for the live stream. */
  readonly keepsChanges?: boolean;
  readonly config: ArchiveConfig;
  /** Defaults to the bounds of a server. */
  readonly oldRecords?: OldRecordsBounds;
  readonly sealDaysAtOnce?: number;
  readonly events: DirectoryEvents;
  readonly onProgress: OnReplayProgress;
  /** Aborts the replay of the directory's own log, which rejects with an `AbortError`. */
  readonly signal?: AbortSignal;
  readonly release: () => void;
  /** The stream that is the log of a cluster node; defaults to a log in the directory. */
  readonly stream?: DirectoryStream;
  /** Where DuckDB finds the archive and may write drafts; defaults to the archive's own directory. */
  readonly archiveDisk?: ArchiveDisk;
  /** Starts the helper processes that make parts and exports; by default this process makes both. */
  readonly startHelper?: StartHelper;
  /** Defaults to databases of the directory's own. */
  readonly archiveEngine?: ArchiveEngine;
  readonly segmentBytesMax?: number;
  /** An export ends if its client reads nothing for this long; defaults to a minute. */
  readonly exportStallMs?: number;
  /** Creates salts of the log and names of scratch directories; defaults to random ones. */
  readonly createSalt?: CreateSalt;
}

/** The stream that is a node's log, the stream of its quarantine, and the node's position in both. */
export interface DirectoryStream
  extends Pick<
    OpenStreamLogOptions,
    | "stream"
    | "fromMessage"
    | "lastTaken"
    | "idPrefix"
    | "probe"
    | "onFloor"
    | "onFailed"
    | "timers"
    | "signal"
  > {
  readonly quarantine: Pick<
    QuarantineStream,
    "stream" | "fromMessage" | "lastTaken" | "idPrefix" | "probe" | "onPosition" | "onFailed" | "timers"
  >;
}

export interface ArchiveDisk {
  /** A directory that has the archive's files under the archive's names. */
  readonly directory: string;
  readonly files: Files;
}

export interface ArchiveEngine {
  openDatabase(options: DatabaseOptions): Promise<Database>;
}

const OWN_ENGINE: ArchiveEngine = { openDatabase };

type Close = () => unknown;

/**
 * Opens a directory that this process has locked: reads the archive, then replays the part of the log that the archive
 * does not cover. On failure it closes everything that it opened.
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

/** Adds to `opened` how to close each part. */
async function openParts(options: OpenDirectoryOptions, opened: Close[]): Promise<OpenDirectory> {
  const { dataDir, files, hot, config, events, release } = options;
  const paths = directoryPaths(dataDir);
  const archiveDisk = options.archiveDisk ?? { directory: paths.archive, files };
  const archiveEngine = options.archiveEngine ?? OWN_ENGINE;
  const { archive, notes, restoreNewest, restoreStanding } = await openArchive({
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
    onStanding: (entry) => hot.profiles.restore(entry),
  });
  opened.push(() => archive.close());
  async function beginReplay(): Promise<boolean> {
    hot.beginReplay();
    const hasAll = await restoreNewest();
    hot.setSealed(sequencesOf(archive.manifest), hasAll);
    hot.profiles.endRestore(await restoreStanding());
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
  const { quarantine, quarantineSweeps, ...messages } = await openOwnQuarantine(options);
  opened.push(() => quarantine.close());
  const exports = createDirectoryExports(options, archiveDisk, archive);
  const compactor = new MemoryCompactor(hot, options.clock, options.timers ?? systemTimers);
  const schedule = createSchedule(options, { log, archive, recovery, hasAllNewest, archiveDisk });
  return {
    hot,
    scheduler: options.scheduler,
    log,
    archive,
    quarantine,
    quarantineSweeps,
    compactor,
    exports,
    recovery,
    damage: [...recovery.damage, ...messages.damage],
    tornTails: [recovery.tornTail, messages.tornTail].filter((tail) => tail !== null),
    schedule,
    ...createIngests(options, { log, archive, schedule, recovery }),
    async inspect() {
      for (const note of await inspectArchive(files, paths.archive, archive)) events.onArchiveNote(note);
    },
    async close() {
      compactor.stop();
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

function createIngests(
  options: OpenDirectoryOptions,
  opened: Pick<OpenDirectory, "log" | "archive" | "schedule" | "recovery">,
): Pick<OpenDirectory, "ingest" | "exactIngest" | "editProfile"> {
  const { hot, events, stream, scheduler } = options;
  const { log, archive, schedule, recovery } = opened;
  const { onRefusal } = events;
  const memory = followLog({ log, hot, schedule, scheduler });
  const ingest = createIngest({
    log,
    hot,
    memory,
    schedule,
    onRefusal,
    hasWholeLog: stream === undefined && recovery.readUpTo === Number.POSITIVE_INFINITY,
  });
  const exactIngest = createExactIngest({
    ...options,
    archive: () => archive,
    acknowledgedParts: acknowledgedPartsOf(options),
    ingest,
  });
  return { ingest, exactIngest, editProfile: createEditProfile({ log, hot, memory, onRefusal }) };
}

/** Reads which parts of the archive the operator has acknowledged as lost. */
function acknowledgedPartsOf({ dataDir, files }: OpenDirectoryOptions) {
  return () => readAcknowledgedParts(files, directoryPaths(dataDir).damaged);
}

/** Replays the log into memory and opens it for appending. */
function openLog(
  options: OpenDirectoryOptions,
  sequenceMin: number,
  onReplayAgain: (failure: EntryError) => Promise<void>,
): Promise<{ readonly wal: Wal; readonly recovery: LogRecovery }> {
  const { dataDir, files, hot, events, onProgress, stream } = options;
  const callbacks = {
    queueBytesMax: LOG_QUEUE_BYTES_MAX,
    onEntry: (entry: LogEntry) => void applyToMemory(hot, entry),
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

/** More days than a month of downtime, or a day that has just ended, would explain. */
const EXPIRING_DAYS_TOLD = 31;

/** If much is about to expire, the cause may be a lost setting or a wrong clock; the operator has one day to react. */
function expiryNotes({ manifest }: Archive, { clock, retention }: OpenDirectoryOptions): string[] {
  const firstDay = utcDayOf(retention.startMs(clock.nowMs()));
  const days = [...manifest.days.keys()].filter((day) => day < firstDay);
  if (days.length < EXPIRING_DAYS_TOLD) return [];
  return [
    `${days.length} days are past the retention of ${retention.text}, from ${utcDayName(Math.min(...days) as UtcDay)} on: ` +
      "they are in no answer, and a day after the next seal their files go. To keep them: settings set retention.",
  ];
}

interface SealParts extends Pick<OpenDirectory, "log" | "archive" | "recovery"> {
  readonly hasAllNewest: boolean;
  readonly archiveDisk: ArchiveDisk;
}

/** The program of the process that makes parts. */
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
      createSalt,
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
async function openOwnQuarantine(options: OpenDirectoryOptions) {
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
