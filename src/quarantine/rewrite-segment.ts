import { Buffer } from "node:buffer";
import { DAMAGED_SUFFIX, type Damage, setAside, TORN_SUFFIX } from "../directory/set-aside.ts";
import { type Files, isDiskFull } from "../runtime/files.ts";
import { type Arrivals, decodeSummary, readArrivals, writeArrivals } from "./entry-format.ts";
import { findTornTail, readFrames, type Segment, type SegmentReader } from "./segment.ts";

/*
 * Puts a segment in place anew with those of its entries that are wanted. Where it fails the file is as it was, or has
 * the wanted ones alone, and a power failure may bring the former back: nothing must be appended to it then.
 */

export interface RewriteOptions {
  readonly files: Files;
  readonly damagedDirectory: string;
  /** Whether bad bytes at the end are those of a write that was cut short: nobody was told that they are kept. */
  readonly mayBeTorn: boolean;
}

export interface RewrittenSegment {
  /** Of the file as it is now. */
  readonly bytes: number;
  /** Sequences of the entries that it has. */
  readonly sequences: ReadonlySet<number>;
  /** What was no good frame, and is elsewhere now. */
  readonly damage: readonly Damage[];
  readonly tornTail: Damage | null;
}

/** `wanted` tells of an entry by its sequence how often it came; undefined where it is to go. */
export async function rewriteSegment(
  { files, damagedDirectory, mayBeTorn }: RewriteOptions,
  { path, head, frames }: Pick<Segment, "path" | "head" | "frames">,
  wanted: (sequence: number) => Arrivals | undefined,
): Promise<RewrittenSegment> {
  const bytes = await files.read(path);
  const reader = readFrames(bytes, path);
  const chunks = [head];
  const sequences = new Set<number>();
  for (const { sequence, frame, arrivals } of wantedFrames(reader, wanted)) {
    const known = wanted(sequence)!;
    sequences.add(sequence);
    chunks.push(known.count === arrivals.count ? frame : recounted(frame, sequence, known, frames));
  }
  const { damage } = reader.scanner;
  const torn = mayBeTorn ? findTornTail(damage, bytes.length) : null;
  const saved: Damage[] = [];
  for (const range of damage) {
    const suffix = range === torn ? TORN_SUFFIX : DAMAGED_SUFFIX;
    const lost = bytes.subarray(range.offset, range.offset + range.bytes);
    const savedAs = lost.every((byte) => byte === 0)
      ? null
      : await setAside(files, damagedDirectory, path, range.offset, lost, suffix);
    saved.push({ ...range, file: path, savedAs });
  }
  const anew = Buffer.concat(chunks);
  await put(files, path, bytes, anew);
  const tornTail = torn === null ? null : (saved.pop() ?? null);
  return { bytes: anew.length, sequences, damage: saved, tornTail };
}

function* wantedFrames(
  { views, scanner }: SegmentReader,
  wanted: (sequence: number) => Arrivals | undefined,
) {
  while (scanner.next()) {
    const { sequence, start, payloadStart, payloadEnd } = scanner;
    if (wanted(sequence) !== undefined) {
      const frame = views.bytes.subarray(start, payloadEnd);
      yield { sequence, frame, arrivals: readArrivals(views, payloadStart) };
    } else if (decodeSummary(views, payloadStart, payloadEnd) === null) scanner.reject();
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
  frames.seal(copy, sequence);
  return copy;
}

/** On a full disk there is room for what is there already, and for nothing. */
async function put(files: Files, path: string, former: Uint8Array, anew: Uint8Array): Promise<void> {
  try {
    await files.replace(path, anew);
  } catch (error) {
    if (!isDiskFull(error)) throw error;
    if (Buffer.compare(former, anew) === 0) await files.overwrite(path, anew);
    else if (isBeginning(anew, former)) await cut(files, path, anew.length);
    else throw error;
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
