import { Buffer } from "node:buffer";
import { join } from "node:path";
import { createSaltedFrames, FRAME_HEADER_BYTES } from "../lib/frames/frame.ts";
import type { CreateSalt } from "../lib/frames/head.ts";
import { nextTurn } from "../lib/schedule/timers.ts";
import { createReportBatchBuilder } from "../model/report-batch.ts";
import type { UtcDay } from "../model/time/utc-day.ts";
import type { Files } from "../runtime/files.ts";
import { EntryCounter, type EntryTally, withoutDays } from "./batch-parts.ts";
import { createEntryEncoder, type LogEntry } from "./entry/entry.ts";
import { createTextColumnReader } from "./entry/text-column.ts";
import { encodeSegmentHead, segmentName } from "./segment.ts";
import { SegmentReader } from "./segment-reader.ts";

// Rewrites a segment without what the archive covers. Entries keep their sequences. Entries that have nothing left are
// dropped, except the last, which tells how far the sequences of the segment went. The result is null, and the segment
// stays as it was, if not all of it could be read or the signal aborts before the new file is written.

export interface RewrittenSegment extends EntryTally {
  readonly bytes: number;
}

/** What a segment is rewritten without. */
export interface CoveredEntries {
  readonly days: ReadonlySet<UtcDay>;
  /** Standing entries up to this one. */
  readonly standingSequence: number;
}

/** Bytes handled per turn of the event loop, about a millisecond of work. */
const STEP_BYTES = 32 * 1024;

export async function rewriteSegment(
  files: Files,
  directory: string,
  number: number,
  covered: CoveredEntries,
  lastSequence: number,
  createSalt: CreateSalt,
  signal: AbortSignal,
): Promise<RewrittenSegment | null> {
  const path = join(directory, segmentName(number));
  const source = { path, number, bytes: await files.read(path), isReadable: true, isNewest: false };
  const start = { lastSequence: number - 1, nextSequence: number };
  const reader = new SegmentReader(source, start, createTextColumnReader());
  const encoder = createEntryEncoder();
  const salt = createSalt();
  const frames = createSaltedFrames(salt);
  const chunks = [encodeSegmentHead(number, salt)];
  const tally = new EntryCounter();
  let stepEnd = STEP_BYTES;
  for (let entry = reader.next(); entry !== null; entry = reader.next()) {
    const remaining = withoutCovered(entry, covered);
    if (remaining.kind !== "reports" || remaining.batch.count > 0 || entry.sequence === lastSequence) {
      const frame = encoder.encodeEntry(remaining, FRAME_HEADER_BYTES);
      frames.stamp(frame, entry.sequence);
      chunks.push(frame);
      tally.add(remaining);
    }
    if (signal.aborted) return null;
    if (reader.readBytes < stepEnd) continue;
    await nextTurn();
    stepEnd = reader.readBytes + STEP_BYTES;
  }
  const { damage, goodHead } = reader.contents();
  if (damage.length > 0 || !goodHead) return null;
  const bytes = Buffer.concat(chunks);
  await files.replace(path, bytes);
  const { reports, standingSequence } = tally;
  return { bytes: bytes.length, reports, standingSequence };
}

/** A covered standing entry becomes one of no reports. */
function withoutCovered(entry: LogEntry, { days, standingSequence }: CoveredEntries): LogEntry {
  if (entry.kind === "reports") return { ...entry, batch: withoutDays(entry.batch, days) };
  if (entry.sequence > standingSequence) return entry;
  return { kind: "reports", appId: entry.appId, sequence: entry.sequence, batch: NO_REPORTS };
}

const NO_REPORTS = createReportBatchBuilder(0).build();
