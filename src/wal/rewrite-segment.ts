import { Buffer } from "node:buffer";
import { join } from "node:path";
import { crc32 } from "node:zlib";
import { createSaltedFrames, FRAME_HEADER_BYTES, type SaltedFrames } from "../lib/frames/frame.ts";
import type { CreateSalt } from "../lib/frames/head.ts";
import { nextTurn } from "../lib/schedule/timers.ts";
import type { PendingErasure } from "../model/erasure.ts";
import type { AppId } from "../model/ids.ts";
import { createReportBatchBuilder } from "../model/report-batch.ts";
import type { UtcDay } from "../model/time/utc-day.ts";
import type { Files } from "../runtime/files.ts";
import { EntryCounter, type EntryTally, withoutDays } from "./batch-parts.ts";
import { createEntryEncoder, type LogEntry } from "./entry/entry.ts";
import { createTextColumnReader } from "./entry/text-column.ts";
import { ReportEraser } from "./erased-reports.ts";
import { encodeSegmentHead, segmentName } from "./segment.ts";
import { SegmentReader } from "./segment-reader.ts";
import type { InstantsOfErasures } from "./user-instants.ts";

// Rewrites a segment without what the archive covers, and without what is erased. Entries keep their sequences. Entries
// that have nothing left are dropped, except the last, which tells how far the sequences of the segment went. The
// result is null, and the segment stays as it was, if not all of it could be read or the signal aborts before the new
// file is written.

export interface RewrittenSegment extends EntryTally {
  readonly file: RewrittenFile;
}

/** A file of the log that was written anew. */
export interface RewrittenFile {
  readonly path: string;
  /** The apps of its entries. */
  readonly apps: ReadonlySet<AppId>;
  /** How many reports each pending erasure erased, by its sequence. */
  readonly erased: ReadonlyMap<number, number>;
  readonly before: FileSum;
  readonly after: FileSum;
}

/** The size and CRC-32 of a file's bytes. */
export interface FileSum {
  readonly bytes: number;
  readonly crc: number;
}

/** What a segment is rewritten without. */
export interface LeavingEntries {
  readonly days: ReadonlySet<UtcDay>;
  /** Standing entries up to this one, except the erasures that are pending. */
  readonly standingSequence: number;
  /** All that are pending. */
  readonly erasures: readonly PendingErasure[];
  /** Those whose reports leave, and the instants of their users. */
  readonly erasing: readonly PendingErasure[];
  readonly instants: InstantsOfErasures;
}

export interface SegmentFiles {
  readonly files: Files;
  readonly directory: string;
  readonly createSalt: CreateSalt;
}

/** Bytes handled per turn of the event loop, about a millisecond of work. */
const STEP_BYTES = 32 * 1024;

export async function rewriteSegment(
  { files, directory, createSalt }: SegmentFiles,
  { number, lastSequence }: { readonly number: number; readonly lastSequence: number },
  leaving: LeavingEntries,
  signal: AbortSignal,
): Promise<RewrittenSegment | null> {
  const path = join(directory, segmentName(number));
  const source = { path, number, bytes: await files.read(path), isReadable: true, isNewest: false };
  const start = { lastSequence: number - 1, nextSequence: number };
  const reader = new SegmentReader(source, start, createTextColumnReader());
  const eraser = new ReportEraser(leaving.erasing, leaving.instants);
  const target = new SegmentCopy(number, createSalt());
  const apps = new Set<AppId>();
  let beforeCrc = 0;
  let stepStart = 0;
  for (let entry = reader.next(); entry !== null; entry = reader.next()) {
    apps.add(entry.appId);
    const remaining = withoutLeaving(entry, leaving, eraser);
    if (remaining.kind !== "reports" || remaining.batch.count > 0 || entry.sequence === lastSequence)
      target.add(remaining);
    if (signal.aborted) return null;
    if (reader.readBytes < stepStart + STEP_BYTES) continue;
    beforeCrc = crc32(source.bytes.subarray(stepStart, reader.readBytes), beforeCrc);
    stepStart = reader.readBytes;
    await nextTurn();
  }
  const { damage, goodHead } = reader.contents();
  if (damage.length > 0 || !goodHead) return null;
  const bytes = Buffer.concat(target.chunks);
  await files.replace(path, bytes);
  const before = { bytes: source.bytes.length, crc: crc32(source.bytes.subarray(stepStart), beforeCrc) };
  const after = { bytes: bytes.length, crc: target.crc };
  const { reports, standingSequence, erasureSequence, refusedBytes } = target.tally;
  const file = { path, apps, erased: eraser.erased, before, after };
  return { file, reports, standingSequence, erasureSequence, refusedBytes };
}

/** The new bytes of a segment. */
class SegmentCopy {
  readonly chunks: Uint8Array[];
  readonly tally = new EntryCounter();
  crc: number;
  readonly #encoder = createEntryEncoder();
  readonly #frames: SaltedFrames;

  constructor(number: number, salt: Uint8Array) {
    const head = encodeSegmentHead(number, salt);
    this.chunks = [head];
    this.crc = crc32(head);
    this.#frames = createSaltedFrames(salt);
  }

  add(entry: LogEntry): void {
    const frame = this.#encoder.encodeEntry(entry, FRAME_HEADER_BYTES);
    this.#frames.stamp(frame, entry.sequence);
    this.chunks.push(frame);
    this.crc = crc32(frame, this.crc);
    this.tally.add(entry);
  }
}

/** A standing entry that leaves becomes one of no reports. */
function withoutLeaving(
  entry: LogEntry,
  { days, standingSequence, erasures }: LeavingEntries,
  eraser: ReportEraser,
): LogEntry {
  if (entry.kind === "reports") {
    const batch = withoutDays(entry.batch, days);
    return { ...entry, batch: eraser.remaining({ ...entry, batch }) };
  }
  const isPending = erasures.some(({ sequence }) => sequence === entry.sequence);
  if (entry.sequence > standingSequence || isPending) return entry;
  return { kind: "reports", appId: entry.appId, sequence: entry.sequence, batch: NO_REPORTS };
}

const NO_REPORTS = createReportBatchBuilder(0).build();
