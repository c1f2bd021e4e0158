import { join } from "node:path";
import { nextTurn, systemTimers, type Timers } from "../lib/schedule/timers.ts";
import type { Files } from "../runtime/files.ts";
import { EntryCounter, type EntryTally } from "./batch-parts.ts";
import { applyEntry, type LogEntry } from "./entry/entry.ts";
import { readLog } from "./read-log.ts";
import { misnamedSegments, segmentNumbers } from "./segment.ts";
import { type SegmentContents, segmentSize } from "./segment-reader.ts";

// Reads the whole log at a start, while requests wait, without changing it. Throws a `FormatVersionError` if another
// version of the program wrote any of it, and an `EntryError` if `onEntry` throws.

export interface ReplayOptions {
  readonly files: Files;
  readonly directory: string;
  /** Called for every entry that is not in `rejected`, in log order, while requests wait. */
  onEntry(entry: LogEntry): void;
  /** Sequences of entries to skip and to report as damage. */
  readonly rejected?: ReadonlySet<number>;
  onProgress?(progress: ReplayProgress): void;
  /** Lets requests be answered before it resolves; called about every 10 ms. */
  yieldToRequests?(): Promise<void>;
  /** Tells when to yield; defaults to the system clock. */
  readonly timers?: Timers;
  /** Stops the replay at the next yield, with an `AbortError`. */
  readonly signal?: AbortSignal;
}

export interface ReplayProgress {
  readonly replayedBytes: number;
  readonly totalBytes: number;
  readonly records: number;
}

/** A segment, and the tally of its good frames. */
export interface ReplayedSegment extends SegmentContents, EntryTally {}

export interface ReplayedLog {
  readonly segments: readonly ReplayedSegment[];
  /** The sequence of the next entry, above all that were ever used. */
  readonly nextSequence: number;
  /** Names of files that look like segments but can't be read as such. */
  readonly misnamed: readonly string[];
}

const NONE: ReadonlySet<number> = new Set();
const SLICE_MS = 10;
/** The clock is read after this many bytes, about a millisecond of work. */
const CLOCK_STEP_BYTES = 64 * 1024;

export async function replayLog(options: ReplayOptions): Promise<ReplayedLog> {
  const { files, directory, onEntry, rejected = NONE, onProgress } = options;
  const { yieldToRequests = nextTurn, timers = systemTimers } = options;
  const names = await files.list(directory);
  const paths = segmentNumbers(names).map(({ name }) => join(directory, name));
  const sizes = await Promise.all(paths.map((path) => segmentSize(files, path)));
  const totalBytes = sizes.reduce((sum, size) => sum + size, 0);
  const segments: ReplayedSegment[] = [];
  let nextSequence = 1;
  let replayedBytes = 0;
  let records = 0;
  let sliceEndMs = timers.nowMs() + SLICE_MS;

  for await (const reader of readLog(files, directory, names)) {
    const tally = new EntryCounter();
    let clockAt = CLOCK_STEP_BYTES;
    for (let entry = reader.next(); entry !== null; entry = reader.next()) {
      if (rejected.has(entry.sequence)) {
        reader.reject();
        continue;
      }
      applyEntry(entry, onEntry);
      tally.add(entry);
      if (reader.readBytes < clockAt) continue;
      clockAt = reader.readBytes + CLOCK_STEP_BYTES;
      if (timers.nowMs() < sliceEndMs) continue;
      const progress = { replayedBytes: replayedBytes + reader.readBytes, totalBytes };
      onProgress?.({ ...progress, records: records + reader.records });
      await yieldToRequests();
      options.signal?.throwIfAborted();
      sliceEndMs = timers.nowMs() + SLICE_MS;
    }
    const { reports, standingSequence, erasureSequence, refusedBytes } = tally;
    segments.push({ ...reader.contents(), reports, standingSequence, erasureSequence, refusedBytes });
    ({ nextSequence } = reader.position);
    replayedBytes += reader.readBytes;
    records += reader.records;
  }
  onProgress?.({ replayedBytes, totalBytes, records });
  return { segments, nextSequence, misnamed: misnamedSegments(names) };
}
