import { Buffer } from "node:buffer";
import { DAMAGED_SUFFIX, type Damage, saveDamage, TORN_SUFFIX } from "../../directory/damaged-files.ts";
import { type Files, isDiskFull } from "../../runtime/files.ts";
import { type Arrivals, decodeSummary, readArrivals, writeArrivals } from "./entry-format.ts";
import { findTornTail, readFrames, type Segment, type SegmentReader } from "./segment.ts";

/*
 * Puts a segment in place anew with those of its entries that are wanted. Where it fails the file is as it was, or has
 * the wanted ones alone, and a power failure may bring the former back: nothing must be appended to it then.
 */

export interface RewriteOptions {
  readonly files: Files;
  readonly damagedDirectory: string;
  /** Whether it was appended to last: bad bytes at its end are then those of a write that was cut short. */
  readonly wasLast: boolean;
}

export interface RewrittenSegment {
  /** Of the file as it is now. */
  readonly bytes: number;
  /** Whether it is a new file, whose name the disk has; else the former's bytes were written over, or cut. */
  readonly isReplaced: boolean;
  /** Sequences of the entries that it has. */
  readonly sequences: ReadonlySet<number>;
  /** What was no good frame, and is elsewhere now. */
  readonly damage: readonly Damage[];
  readonly tornTail: Damage | null;
}

/** `wanted` tells of an entry by its sequence how often it came; undefined where it is to go. */
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

/** With how often its entry came; null for the frames that say where a process began to append. */
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

/** On a full disk there is room for what is there already, and for nothing. */
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
