import { join } from "node:path";
import type { DamagedRange } from "../lib/frames/frame-scanner.ts";
import { nextTurn } from "../lib/schedule/next-turn.ts";
import { FileError, type Files, isPassing } from "../runtime/files.ts";
import type { EntrySummary } from "./entry.ts";
import { decodeSummary } from "./entry-format.ts";
import { findTornTail, parseSegmentName, readFrames } from "./segment.ts";

/*
 * Reads the whole quarantine and changes nothing, also beside a process that writes to it.
 */

/** An entry, and where it lies in its segment. */
export interface FoundEntry {
  readonly summary: EntrySummary;
  readonly sequence: number;
  readonly frameBytes: number;
}

export interface ReadSegment {
  readonly path: string;
  readonly number: number;
  readonly bytes: number;
  readonly isReadable: boolean;
  /** Null where no frame can be told from what clients sent. */
  readonly salt: Uint8Array | null;
  readonly goodHead: boolean;
  readonly entries: readonly FoundEntry[];
  /** But for the torn tail. */
  readonly damage: readonly DamagedRange[];
  /** In the newest: a write that was cut short, or beside a running server is under way. */
  readonly tornTail: DamagedRange | null;
}

/** In the order of their numbers. Throws a `NewerFormatError` where a newer program wrote any of them. */
export async function readSegments(files: Files, directory: string): Promise<ReadSegment[]> {
  const found = (await files.list(directory)).flatMap((name) => {
    const number = parseSegmentName(name);
    return number === null ? [] : [{ path: join(directory, name), number }];
  });
  const segments: ReadSegment[] = [];
  for (const { path, number } of found) {
    const segment = await readSegment(files, path, number, number === found.at(-1)!.number);
    if (segment !== null) segments.push(segment);
    await nextTurn();
  }
  return segments;
}

/** Null where it is gone since it was listed. */
async function readSegment(
  files: Files,
  path: string,
  number: number,
  isNewest: boolean,
): Promise<ReadSegment | null> {
  let bytes: Uint8Array;
  try {
    bytes = await files.read(path);
  } catch (error) {
    if (!(error instanceof FileError) || isPassing(error)) throw error;
    if (error.code === "ENOENT") return null;
    const nothing = { salt: null, goodHead: false, entries: [], damage: [], tornTail: null };
    return { path, number, bytes: 0, isReadable: false, ...nothing };
  }
  const { views, scanner, salt, goodHead } = readFrames(bytes, path);
  const entries: FoundEntry[] = [];
  while (scanner.next()) {
    const { sequence, start, payloadStart, payloadEnd } = scanner;
    const summary = decodeSummary(views, payloadStart, payloadEnd);
    if (summary === null) scanner.reject();
    else entries.push({ summary, sequence, frameBytes: payloadEnd - start });
  }
  const tornTail = isNewest ? findTornTail(scanner.damage, bytes.length) : null;
  const damage = scanner.damage.filter((range) => range !== tornTail);
  return { path, number, bytes: bytes.length, isReadable: true, salt, goodHead, entries, damage, tornTail };
}
