import { join } from "node:path";
import { nextTurn } from "../lib/schedule/next-turn.ts";
import { systemTimers, type Timers } from "../lib/schedule/timers.ts";
import type { Files } from "../runtime/files.ts";
import type { UtcDay } from "../time/utc-day.ts";
import { addBatchDays, type ReportsByDay } from "./batch-days.ts";
import type { LogEntry } from "./entry/entry.ts";
import { handOver } from "./entry/entry-error.ts";
import { createTextColumnReader } from "./entry/text-column.ts";
import { misnamedSegments, segmentNumbers } from "./segment/segment-name.ts";
import {
  LOG_START,
  readSegment,
  type SegmentContents,
  SegmentReader,
  segmentSize,
} from "./segment/segment-reader.ts";

/*
 * Reads the whole log and changes nothing. Throws a `FormatVersionError` if a program of another version wrote any of
 * it, and an `EntryError` if `onEntry` throws.
 */

export interface ReplayOptions {
  readonly files: Files;
  readonly directory: string;
  /** Called for every entry but those left out, in log order, while requests wait. */
  onEntry(entry: LogEntry): void;
  /** Sequences of entries that count as damage. */
  readonly leftOut?: ReadonlySet<number>;
  onProgress?(progress: ReplayProgress): void;
  /** Lets requests be answered before it resolves; replay asks for it about every 10 ms. */
  yieldToRequests?(): Promise<void>;
  /** When that is due; defaults to the system's. */
  readonly timers?: Timers;
  /** Breaks it off when requests are let in next: it rejects with an `AbortError`. */
  readonly signal?: AbortSignal;
}

export interface ReplayProgress {
  readonly replayedBytes: number;
  readonly totalBytes: number;
  readonly records: number;
}

export interface ReplayedSegment extends SegmentContents {
  /** In its good frames. */
  readonly reports: ReportsByDay;
}

export interface ReplayedLog {
  readonly segments: readonly ReplayedSegment[];
  /** The sequence for the next entry: above all that were ever given. */
  readonly nextSequence: number;
  /** Files that were meant to be segments and can't be read as such, by name. */
  readonly misnamed: readonly string[];
}

const NONE: ReadonlySet<number> = new Set();
const SLICE_MS = 10;
/** The clock is looked at after so many bytes, about a millisecond of work. */
const CLOCK_STEP_BYTES = 64 * 1024;

export async function replayLog(options: ReplayOptions): Promise<ReplayedLog> {
  const { files, directory, onEntry, leftOut = NONE, onProgress } = options;
  const { yieldToRequests = nextTurn, timers = systemTimers } = options;
  const names = await files.list(directory);
  const found = segmentNumbers(names);
  const sizes = await Promise.all(found.map(({ name }) => segmentSize(files, join(directory, name))));
  const totalBytes = sizes.reduce((sum, size) => sum + size, 0);
  const texts = createTextColumnReader();
  const segments: ReplayedSegment[] = [];
  let position = LOG_START;
  let replayedBytes = 0;
  let records = 0;
  let sliceEndMs = timers.nowMs() + SLICE_MS;

  for (const [index, { name, number }] of found.entries()) {
    const path = join(directory, name);
    const segmentBytes = await readSegment(files, path, sizes[index]!);
    const reader = new SegmentReader(path, number, segmentBytes, position, texts);
    const reports = new Map<UtcDay, number>();
    let clockAt = CLOCK_STEP_BYTES;
    for (let entry = reader.next(); entry !== null; entry = reader.next()) {
      if (leftOut.has(entry.sequence)) {
        reader.reject();
        continue;
      }
      handOver(entry, onEntry);
      addBatchDays(entry.batch, reports);
      if (reader.readBytes < clockAt) continue;
      clockAt = reader.readBytes + CLOCK_STEP_BYTES;
      if (timers.nowMs() < sliceEndMs) continue;
      const progress = { replayedBytes: replayedBytes + reader.readBytes, totalBytes };
      onProgress?.({ ...progress, records: records + reader.records });
      await yieldToRequests();
      options.signal?.throwIfAborted();
      sliceEndMs = timers.nowMs() + SLICE_MS;
    }
    segments.push({ ...reader.contents(), reports });
    position = reader.position;
    replayedBytes += reader.readBytes;
    records += reader.records;
  }
  onProgress?.({ replayedBytes, totalBytes, records });
  return { segments, nextSequence: position.nextSequence, misnamed: misnamedSegments(names) };
}
