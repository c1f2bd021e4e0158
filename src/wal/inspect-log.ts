import { join } from "node:path";
import { FileError, type Files } from "../runtime/files.ts";
import { createEntryDecoder } from "./entry.ts";
import type { DamagedRange } from "./frame.ts";
import { segmentNumbers } from "./replay.ts";
import { LOG_START, SegmentReader, tornTail } from "./segment-reader.ts";

export interface InspectedSegment {
  readonly file: string;
  readonly bytes: number;
  readonly entries: number;
  readonly records: number;
  readonly firstSequence: number | null;
  readonly lastSequence: number | null;
  readonly damage: readonly DamagedRange[];
  /** Bytes after the last good frame of the newest segment: beside a running server, a write under way. */
  readonly tornTailBytes: number;
}

/**
 * Reads the whole log and changes nothing, also beside a process that appends to it. Throws a `NewerFormatError`
 * where a newer program wrote any of it.
 */
export async function inspectLog(files: Files, directory: string): Promise<InspectedSegment[]> {
  const decoder = createEntryDecoder();
  const found = segmentNumbers(await files.list(directory));
  const segments: InspectedSegment[] = [];
  let position = LOG_START;
  for (const [index, { name, number }] of found.entries()) {
    const path = join(directory, name);
    const segmentBytes = await readUnlessGone(files, path);
    if (segmentBytes === null) continue;
    const reader = new SegmentReader(path, number, segmentBytes, position, decoder);
    while (reader.next() !== null);
    position = reader.position;

    const contents = reader.contents();
    const tail = tornTail(contents, index === found.length - 1);
    const { bytes, entries, records, firstSequence, lastSequence, damage } = contents;
    segments.push({
      file: path,
      bytes,
      entries,
      records,
      firstSequence,
      lastSequence,
      damage: damage.filter((range) => range !== tail),
      tornTailBytes: tail?.bytes ?? 0,
    });
  }
  return segments;
}

/** The file's bytes; null where the server has removed it since it was listed. */
async function readUnlessGone(files: Files, path: string): Promise<Uint8Array | null> {
  try {
    return await files.read(path);
  } catch (error) {
    if (error instanceof FileError && error.code === "ENOENT") return null;
    throw error;
  }
}
