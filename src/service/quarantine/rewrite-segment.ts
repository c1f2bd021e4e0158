import { Buffer } from "node:buffer";
import { DAMAGED_SUFFIX, type Damage, saveDamage, TORN_SUFFIX } from "../../directory/damaged-files.ts";
import { type Files, isDiskFull } from "../../runtime/files.ts";
import { type Arrivals, decodeSummary, readArrivals, writeArrivals } from "./entry-format.ts";
import { findTornTail, readFrames, type Segment, type SegmentReader } from "./segment.ts";

/*
 * Rewrites a segment with the entries to retain. If that fails, the file is unchanged or has only those entries, and a
 * power failure may bring the former file back: nothing may be appended to it then.
 */

export interface RewriteOptions {
  readonly files: Files;
  readonly damagedDirectory: string;
  /** Whether it was the last one written to: bad bytes at its end are then an interrupted write. */
  readonly wasLast: boolean;
}

export interface RewrittenSegment {
  /** The size of the new file. */
  readonly bytes: number;
  /** Whether it is a new file with a durable name; otherwise the former file was overwritten or cut. */
  readonly isReplaced: boolean;
  /** Sequences of its entries. */
  readonly sequences: ReadonlySet<number>;
  /** Invalid frames, which were moved to the damaged bytes. */
  readonly damage: readonly Damage[];
  readonly tornTail: Damage | null;
}

/** `wanted` returns the arrivals of an entry by its sequence; undefined if it is to be deleted. */
export async function rewriteSegment(
  { files, damagedDirectory, wasLast }: RewriteOptions,
  { path, head, frames }: Pick<Segment, "path" | "head" | "frames">,
  wanted: (sequence: number) => Arrivals | undefined,
): Promise<RewrittenSegment> {
  const bytes = await files.read(path);
  const reader = readFrames(bytes, path);
  const chunks = [head];
  const sequences = new Set<number>();
  for (const { sequence, frame, arrivals } of goodFrames(reader)) {
    const known = wanted(sequence);
    if (known !== undefined) sequences.add(sequence);
    if (known !== undefined && known.count !== arrivals?.count)
      chunks.push(recounted(frame, sequence, known, frames));
    else if (known !== undefined || arrivals === null) chunks.push(frame);
  }
  const { damage } = reader.scanner;
  const torn = findTornTail(damage, bytes.length, wasLast);
  const saved: Damage[] = [];
  for (const range of damage) {
    const suffix = range === torn ? TORN_SUFFIX : DAMAGED_SUFFIX;
    const lost = bytes.subarray(range.offset, range.offset + range.bytes);
    const savedAs = lost.every((byte) => byte === 0)
      ? null
      : await saveDamage(files, damagedDirectory, path, range.offset, lost, suffix);
    saved.push({ ...range, file: path, savedAs });
  }
  const tornTail = torn === null ? null : (saved.pop() ?? null);
  const written = await put(files, path, bytes, Buffer.concat(chunks));
  return { ...written, sequences, damage: saved, tornTail };
}

/** Valid frames with the arrivals of their entry; null for the frames that mark where a process began to append. */
function* goodFrames({ views, scanner }: SegmentReader) {
  while (scanner.next()) {
    const { sequence, start, payloadStart, payloadEnd } = scanner;
    const frame = views.bytes.subarray(start, payloadEnd);
    if (payloadStart === payloadEnd) yield { sequence, frame, arrivals: null };
    else if (decodeSummary(views, payloadStart, payloadEnd) === null) scanner.reject();
    else yield { sequence, frame, arrivals: readArrivals(views, payloadStart) };
  }
}

function recounted(
  frame: Uint8Array,
  sequence: number,
  known: Arrivals,
  frames: Segment["frames"],
): Uint8Array {
  const copy = new Uint8Array(frame);
  writeArrivals(copy, known);
  frames.stamp(copy, sequence);
  return copy;
}

/** A full disk has room for what is there already, so the former file is overwritten in place. */
async function put(files: Files, path: string, former: Uint8Array, anew: Uint8Array) {
  try {
    await files.replace(path, anew);
    return { bytes: anew.length, isReplaced: true };
  } catch (error) {
    if (!isDiskFull(error) || !isBeginning(anew, former)) throw error;
    if (anew.length < former.length) await cut(files, path, anew.length);
    else await files.overwrite(path, anew);
    return { bytes: anew.length, isReplaced: false };
  }
}

function isBeginning(beginning: Uint8Array, bytes: Uint8Array): boolean {
  return Buffer.compare(beginning, bytes.subarray(0, beginning.length)) === 0;
}

async function cut(files: Files, path: string, sizeBytes: number): Promise<void> {
  const file = await files.openAppend(path);
  try {
    await file.truncate(sizeBytes);
    await file.sync();
  } finally {
    await file.close();
  }
}
