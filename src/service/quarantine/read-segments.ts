import { join } from "node:path";
import type { RefusedMessage } from "../../clients/refused-message.ts";
import type { DamagedRange } from "../../lib/frames/frame-scanner.ts";
import { nextTurn } from "../../lib/schedule/timers.ts";
import { FileError, type Files, isPassing } from "../../runtime/files.ts";
import type { EntrySummary } from "./entry.ts";
import { decodeMessage, decodeSummary, isDamage } from "./entry-format.ts";
import { findTornTail, parseSegmentName, readFrames, type Segment } from "./segment.ts";

/*
 * Reads one segment or all of them, without changing anything and also while a process writes to them.
 */

/** An entry and its position in its segment. */
export interface SegmentEntry {
  readonly summary: EntrySummary;
  readonly sequence: number;
  readonly frameBytes: number;
}

export interface ReadSegment {
  readonly path: string;
  readonly number: number;
  readonly bytes: number;
  readonly isReadable: boolean;
  /** Null if the salt is damaged: then frames can't be told from content that clients sent. */
  readonly salt: Uint8Array | null;
  readonly goodHead: boolean;
  readonly entries: readonly SegmentEntry[];
  /** All damage except the torn tail. */
  readonly damage: readonly DamagedRange[];
  /** The sequence of its last valid frame, which may be an empty one. */
  readonly lastSequence: number;
  /** Whether it was the last one written to: a crashed process may not have synced its end. */
  readonly wasLast: boolean;
  /** An interrupted write; beside a running server, one in progress. */
  readonly tornTail: DamagedRange | null;
}

/** In the order of their numbers. Throws a `FormatVersionError` if another version wrote one of them. */
export async function readSegments(files: Files, directory: string): Promise<ReadSegment[]> {
  const segments: Omit<ReadSegment, "tornTail" | "wasLast">[] = [];
  for (const name of await files.list(directory)) {
    const number = parseSegmentName(name);
    const segment = number === null ? null : await readSegment(files, join(directory, name), number);
    if (segment !== null) segments.push(segment);
    await nextTurn();
  }
  const lastSequence = Math.max(0, ...segments.map((segment) => segment.lastSequence));
  return segments.map((segment) => {
    const wasLast = segment.lastSequence === lastSequence && lastSequence > 0;
    const tornTail = findTornTail(segment.damage, segment.bytes, wasLast);
    return { ...segment, wasLast, tornTail, damage: segment.damage.filter((range) => range !== tornTail) };
  });
}

/** Null if it was deleted after it was listed. */
async function readSegment(
  files: Files,
  path: string,
  number: number,
): Promise<Omit<ReadSegment, "tornTail" | "wasLast"> | null> {
  let bytes: Uint8Array;
  try {
    bytes = await files.read(path);
  } catch (error) {
    if (!(error instanceof FileError) || isPassing(error)) throw error;
    if (error.code === "ENOENT") return null;
    const nothing = { salt: null, goodHead: false, entries: [], damage: [], lastSequence: 0 };
    return { path, number, bytes: 0, isReadable: false, ...nothing };
  }
  const { views, scanner, salt, goodHead } = readFrames(bytes, path);
  const entries: SegmentEntry[] = [];
  while (scanner.next()) {
    const { sequence, start, payloadStart, payloadEnd } = scanner;
    const summary = decodeSummary(views, payloadStart, payloadEnd);
    if (summary !== null) entries.push({ summary, sequence, frameBytes: payloadEnd - start });
    else if (isDamage(views, payloadStart, payloadEnd)) scanner.reject();
  }
  const { damage, sequence: lastSequence } = scanner;
  return {
    path,
    number,
    bytes: bytes.length,
    isReadable: true,
    salt,
    goodHead,
    entries,
    damage,
    lastSequence,
  };
}

/**
 * The message of an entry; null if the segment doesn't have it any more. Bodies are not in memory, so the whole
 * segment, mostly a megabyte, is read for one entry.
 */
export async function readEntry(
  files: Files,
  { path }: Segment,
  sequence: number,
): Promise<RefusedMessage | null> {
  const { views, scanner } = readFrames(await files.read(path), path);
  while (scanner.next()) {
    if (scanner.sequence === sequence) return decodeMessage(views, scanner.payloadStart, scanner.payloadEnd);
  }
  return null;
}

/** The sequences of the entries that a segment has on the disk now. */
export async function readSequences(files: Files, { path }: Segment): Promise<Set<number>> {
  const { scanner } = readFrames(await files.read(path), path);
  const sequences = new Set<number>();
  while (scanner.next()) sequences.add(scanner.sequence);
  return sequences;
}
