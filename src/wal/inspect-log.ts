import { join } from "node:path";
import type { Files } from "../runtime/files.ts";
import { createEntryDecoder } from "./entry.ts";
import type { DamagedRange } from "./frame.ts";
import { segmentNumbers } from "./replay.ts";
import { LOG_START, readSegment, SegmentReader, segmentSize, tornTail } from "./segment-reader.ts";

export interface InspectedSegment {
  readonly file: string;
  readonly bytes: number;
  readonly entries: number;
  readonly records: number;
  readonly firstSequence: number | null;
  readonly lastSequence: number | null;
  readonly goodHeader: boolean;
  readonly isReadable: boolean;
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
    const segmentBytes = await readSegment(files, path, await segmentSize(files, path));
    if (!segmentBytes.isReadable && !(await files.exists(path))) continue; // The server removed it since it was listed.
    const reader = new SegmentReader(path, number, segmentBytes, position, decoder);
    while (reader.next() !== null);
    position = reader.position;

    const contents = reader.contents();
    const tail = contents.isReadable ? tornTail(contents, index === found.length - 1) : null;
    const { bytes, entries, records, firstSequence, lastSequence, goodHeader, isReadable, damage } = contents;
    segments.push({
      file: path,
      bytes,
      entries,
      records,
      firstSequence,
      lastSequence,
      goodHeader,
      isReadable,
      damage: damage.filter((range) => range !== tail),
      tornTailBytes: tail?.bytes ?? 0,
    });
  }
  return segments;
}
