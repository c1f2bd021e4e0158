import { openDatabase } from "../archive/duckdb/database.ts";
import { createPartProcesses } from "../archive/write/engine/part-process.ts";
import { openPartWriter } from "../archive/write/part-writer.ts";
import { createRandomSalt } from "../lib/frames/head.ts";
import { systemTimers } from "../lib/schedule/timers.ts";
import type { MessageStore } from "../service/quarantine/message-store.ts";
import type { GapsDependencies } from "../service/queries/history/read-archive.ts";
import { createSealSchedule, type SealSchedule } from "../service/upkeep/seal/schedule.ts";
import { createSeal } from "../service/upkeep/seal/seal.ts";
import type { SharedEntries } from "../service/watching/shared-entries.ts";
import { OLD_RECORDS_BOUNDS, SEAL_MEMORY_BYTES } from "./config.ts";
import type { ArchiveDisk, OpenDirectory, OpenDirectoryOptions } from "./directory.ts";

export interface SealScheduleOptions
  extends Pick<OpenDirectory, "log" | "archive" | "recovery" | "watcher">,
    Pick<GapsDependencies, "acknowledgedParts"> {
  readonly messages: MessageStore;
  readonly shared: Pick<SharedEntries, "lastSequence"> | null;
  readonly hasAllNewest: boolean;
  readonly archiveDisk: ArchiveDisk;
}

/** The program of the process that makes parts. */
const PART_MAKER = new URL("./part-maker.ts", import.meta.url);

/** Creates the schedule of a directory's seals, and what they write parts with. */
export function createSchedule(options: OpenDirectoryOptions, parts: SealScheduleOptions): SealSchedule {
  const { clock, retention, hot, config, events, startHelper } = options;
  const { archiveEngine = { openDatabase }, oldRecords = OLD_RECORDS_BOUNDS, sealDaysAtOnce = 1 } = options;
  const { timers = systemTimers, createSalt = createRandomSalt } = options;
  const { log, archive, messages, recovery, watcher, shared, acknowledgedParts } = parts;
  const { hasAllNewest, archiveDisk } = parts;
  const onNote = events.onArchiveNote;
  const processes =
    startHelper === undefined
      ? null
      : createPartProcesses({ startHelper, script: PART_MAKER, timers, onNote });
  return createSealSchedule({
    seal: createSeal({
      hot,
      log,
      messages,
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
      acknowledgedParts,
      keepMarks: () => watcher.checkpoint(),
      sharedSequence: () => shared?.lastSequence ?? 0,
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
