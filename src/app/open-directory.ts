import { join } from "node:path";
import type { Archive } from "../archive/archive.ts";
import { archivePaths } from "../archive/archive-files.ts";
import { openDatabase } from "../archive/duckdb/database.ts";
import { inspectArchive, type OpenedArchive, openArchive } from "../archive/open-archive.ts";
import { entrySequence } from "../cluster/log/group-message.ts";
import { openStreamLog } from "../cluster/log/open-stream-log.ts";
import { readAcknowledgedParts } from "../directory/damaged-files.ts";
import { ErasureLedger, isErasureReport } from "../directory/erasure-ledger.ts";
import { directoryPaths } from "../directory/paths.ts";
import { removeTemporaryFiles } from "../directory/temporary-files.ts";
import { hiddenBatches } from "../hot/hidden/hidden-rows.ts";
import type { HotStore } from "../hot/hot-store.ts";
import { nextTurn, systemTimers } from "../lib/schedule/timers.ts";
import type { StandingEntry } from "../model/standing-entry.ts";
import { type UtcDay, utcDayName, utcDayOf } from "../model/time/utc-day.ts";
import { settleNewest } from "../service/corrections/settle-newest.ts";
import { READING_SIZES } from "../service/export/export-source.ts";
import { createExports, type Exports } from "../service/export/exports.ts";
import { applyToMemory } from "../service/ingest/apply-entry.ts";
import { needsWholeRecords } from "../service/ingest/memory-follower.ts";
import { type MessageStore, openMessages } from "../service/quarantine/message-store.ts";
import type { GapsDependencies } from "../service/queries/history/read-archive.ts";
import { MemoryCompactor } from "../service/upkeep/memory-compactor.ts";
import { archivedByMs, hasLateRows } from "../service/upkeep/seal/plan.ts";
import { clearedOf, sequencesOf } from "../service/upkeep/seal/seal.ts";
import { Checkpoints } from "../service/watching/checkpoints.ts";
import { DecidedEvents } from "../service/watching/decided-events.ts";
import { DeviceStates } from "../service/watching/device-states.ts";
import { eventPaths, openEvents } from "../service/watching/open-events.ts";
import { SharedEntries } from "../service/watching/shared-entries.ts";
import { DeliveryStore } from "../service/webhooks/delivery-store.ts";
import type { EntryError, LogEntry } from "../wal/entry/entry.ts";
import type { LogWrite, Wal } from "../wal/log.ts";
import type { ReplayProgress } from "../wal/replay.ts";
import { type LogRecovery, openWal } from "../wal/wal.ts";
import {
  ARCHIVE_QUERIES_MAX,
  ARCHIVE_QUEUE_MAX,
  EXPORT_STALL_MS,
  LATE_WINDOW,
  LOG_QUEUE_BYTES_MAX,
  LOG_STREAM_LIMITS,
  SEGMENT_BYTES_MAX,
} from "./config.ts";
import type { ArchiveDisk, OpenDirectory, OpenDirectoryOptions } from "./directory.ts";
import { createSchedule } from "./directory-seals.ts";
import { createWatcher } from "./directory-watcher.ts";
import { createWriters } from "./directory-writers.ts";

/** Builds what a data directory holds, in order: archive, log, memory, and what moves records between them. */

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
  const { dataDir, files, hot, events, release } = options;
  const paths = directoryPaths(dataDir);
  const archiveDisk = options.archiveDisk ?? { directory: paths.archive, files };
  const { archive, notes, restoreNewest, restoreStanding } = await openOwnArchive(options, archiveDisk);
  opened.push(() => archive.close());
  const { messages, eventStore, decided, shared, damage } = await openFollowers(options, archive, opened);
  async function beginReplay(): Promise<boolean> {
    hot.beginReplay();
    hot.erasures.finish(archive.manifest.erased);
    // First, since corrections decide what the newest records are.
    const standingSequence = await restoreStanding((entry) => restoreEntry(entry, hot, messages));
    const hasAll = await restoreNewest();
    hot.setSealed(sequencesOf(archive.manifest), hasAll, clearedOf(archive.manifest));
    hot.endRestoreStanding(standingSequence);
    messages.endRestore(standingSequence);
    return hasAll;
  }
  hot.marks().decidedSequence = eventStore.position();
  const hasAllNewest = await beginReplay();
  for (const note of [...notes, ...expiryNotes(archive, options)]) events.onArchiveNote(note);
  const { wal: log, recovery } = await openLog(
    options,
    { messages, shared },
    archive.manifest.lastSequence + 1,
    async (failure) => {
      events.onEntryLeftOut(failure);
      hot.clear();
      await beginReplay();
    },
  );
  opened.push(() => log.close());
  for (const store of [eventStore, shared]) store?.begin(log.lastSequence);
  hot.marks().decidedSequence = eventStore.position();
  for (const _ of hot.endReplay()) await nextTurn();
  const acknowledgedParts = () => readAcknowledgedParts(files, paths.damaged);
  await settleNewest(
    { ...options, archive: () => archive, acknowledgedParts, lateWindow: LATE_WINDOW },
    events.onArchiveNote,
  );
  if (options.keepsChanges === true) hot.keepChanges(log.lastSequence); // Before the log is followed.
  const exports = createDirectoryExports(options, { archive, archiveDisk, acknowledgedParts });
  const compactor = new MemoryCompactor(hot, options.clock, options.timers ?? systemTimers);
  const parts = { log, archive, messages, eventStore, decided, shared, recovery, acknowledgedParts };
  const erasures = await openErasures(options);
  const watcher = createWatcher(options, parts);
  const schedule = createSchedule(options, { ...parts, hasAllNewest, archiveDisk, watcher });
  const writers = createWriters(options, { ...parts, schedule, erasures });
  return {
    hot,
    scheduler: options.scheduler,
    log,
    archive,
    compactor,
    exports,
    erasures,
    recovery,
    eventStore,
    watcher,
    damage: [...recovery.damage, ...damage],
    tornTails: recovery.tornTail === null ? [] : [recovery.tornTail],
    schedule,
    ...writers,
    async inspect() {
      for (const note of await inspectArchive(files, paths.archive, archive)) events.onArchiveNote(note);
    },
    async close() {
      compactor.stop();
      await exports.stop();
      await writers.lead?.close();
      await writers.webhooks?.delivery.stop();
      await stopWriting({ ...writers, schedule, log });
      await watcher.stop();
      eventStore.close();
      archive.close();
      release();
    },
  };
}

function restoreEntry(entry: StandingEntry, hot: HotStore, messages: MessageStore): void {
  switch (entry.kind) {
    case "device_profile":
    case "correction":
    case "watch":
    case "watch_clock":
    case "webhook":
      hot.restoreStanding(entry);
      break;
    case "erasure":
    case "events":
    case "deliveries":
      break; // None is in the file.
    default:
      messages.restore(entry);
  }
}

type Followers = Awaited<ReturnType<typeof openFollowers>>;

const CHECKPOINTER = new URL("./event-checkpointer.ts", import.meta.url);

/** Opens what follows the log in files of its own. */
async function openFollowers(
  {
    dataDir,
    files,
    openSqlite,
    clock,
    events,
    hot,
    scheduler,
    stream,
    startHelper,
    timers = systemTimers,
  }: OpenDirectoryOptions,
  { manifest }: Archive,
  opened: Close[],
) {
  const paths = directoryPaths(dataDir);
  const storage = { files, damagedDirectory: paths.damaged };
  const coveredSequence = manifest.standing?.sequence ?? 0;
  const quarantine = await openMessages({ ...storage, directory: paths.quarantine, coveredSequence });
  const stored = await openEvents({
    ...storage,
    openSqlite,
    directory: paths.events,
    nowMs: clock.nowMs(),
    erasuresOf: (appId) => hot.erasures.ofApp(appId),
  });
  opened.push(() => stored.events.close());
  if (startHelper !== undefined) {
    const { database: path } = eventPaths(paths.events);
    const { events: store } = stored;
    new Checkpoints({ events: store, path, startHelper, script: CHECKPOINTER, timers }).start();
  }
  for (const note of stored.notes) events.onArchiveNote(note);
  const damage = [...quarantine.damage, ...stored.damage];
  const decided = new DecidedEvents(stored.events, stream !== undefined);
  const deliveries = new DeliveryStore(stored.events.database);
  const states = new DeviceStates(stored.events.database);
  const shared =
    stream === undefined
      ? null
      : new SharedEntries({
          ...{ events: stored.events, decided, states, hot, scheduler, timers },
          writeDeliveries: (entry, cursors) => deliveries.writeShared(entry, cursors, hot.webhooks),
          onNote: events.onArchiveNote,
        });
  if (stream !== undefined && shared !== null) {
    // What a new database lacks, the log may still have.
    const beforeFirst = entrySequence(stream.fromMessage, 0) - 1;
    if (stored.events.isNew) stored.events.begin(beforeFirst);
    if (shared.isNew) shared.begin(beforeFirst);
  }
  return { messages: quarantine.messages, eventStore: stored.events, decided, shared, damage };
}

type Writing = Pick<OpenDirectory, "watchClock" | "schedule" | "eraser" | "quarantine" | "sweeps" | "log">;

async function stopWriting({
  watchClock,
  schedule,
  eraser,
  quarantine,
  sweeps,
  log,
}: Writing): Promise<void> {
  await watchClock.stop();
  const erasing = eraser.stop(); // It may wait for a seal.
  await schedule.stop();
  await erasing;
  await sweeps.stop();
  await quarantine.close();
  await log.close();
}

/** Opens the ledger. If it can't be used, nothing is blocked. */
async function openErasures({ files, dataDir, events }: OpenDirectoryOptions): Promise<ErasureLedger> {
  const { erasures: path, erasureReports } = directoryPaths(dataDir);
  await removeTemporaryFiles(files, erasureReports, isErasureReport);
  const ledger = await ErasureLedger.open(files, path);
  const { state } = ledger;
  if (typeof state === "object")
    events.onArchiveNote(`"${path}" can't be used, so reports of erased devices are taken: ${state.reason}`);
  return ledger;
}

function openOwnArchive(options: OpenDirectoryOptions, archiveDisk: ArchiveDisk): Promise<OpenedArchive> {
  const { dataDir, files, hot, config, archiveEngine = { openDatabase } } = options;
  const paths = directoryPaths(dataDir);
  return openArchive({
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
    hidden: () => hiddenBatches(hot.corrections),
    erasures: () => hot.erasures.pending(),
  });
}

/** Replays the log into memory and opens it for appending. */
function openLog(
  options: OpenDirectoryOptions,
  followers: Pick<Followers, "messages" | "shared">,
  sequenceMin: number,
  onReplayAgain: (failure: EntryError) => Promise<void>,
): Promise<{ readonly wal: Wal; readonly recovery: LogRecovery }> {
  const { dataDir, files, hot, events, onProgress, stream } = options;
  const callbacks = {
    queueBytesMax: LOG_QUEUE_BYTES_MAX,
    onEntry: (entry: LogEntry) => void applyToMemory({ hot, ...followers }, entry),
    onProgress: ({ replayedBytes, totalBytes }: ReplayProgress) => onProgress(replayedBytes, totalBytes),
    onWritten: (write: LogWrite) => events.onLogWritten?.(write),
  };
  if (stream !== undefined) {
    const needsFollower = (entry: LogEntry) =>
      needsWholeRecords(entry) && entry.sequence > hot.erasures.finishedSequence && hasLateRows(hot);
    const limits = { ...LOG_STREAM_LIMITS, coveredSequence: sequenceMin - 1 };
    const heldUntilMs = (lastDay: UtcDay | null) =>
      stream.purgedByMs(archivedByMs(lastDay, options.clock.nowMs(), options.config.sealIntervalMs));
    return openStreamLog({ ...callbacks, ...stream, ...limits, needsFollower, heldUntilMs });
  }
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

interface ExportsOptions extends Pick<OpenDirectory, "archive">, Pick<GapsDependencies, "acknowledgedParts"> {
  readonly archiveDisk: ArchiveDisk;
}

function createDirectoryExports(
  options: OpenDirectoryOptions,
  { archive, archiveDisk: disk, acknowledgedParts }: ExportsOptions,
): Exports {
  const { hot, clock, retention, scheduler, events, startHelper = null } = options;
  return createExports({
    startHelper,
    onNote: events.onArchiveNote,
    hot,
    clock,
    retention,
    scheduler,
    archive: () => archive,
    acknowledgedParts,
    sizes: READING_SIZES,
    pathOf: (file) => join(disk.directory, file),
    files: disk.files,
    archiveDirectory: disk.directory,
    scratchDirectory: archivePaths(disk.directory).scratch,
    stallMs: options.exportStallMs ?? EXPORT_STALL_MS,
  });
}
