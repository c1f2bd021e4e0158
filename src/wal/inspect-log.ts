import { join } from "node:path";
import type { Files } from "../runtime/files.ts";
import type { LogEntry } from "./entry/entry.ts";
import { handOver } from "./entry/entry-error.ts";
import { createTextColumnReader } from "./entry/text-column.ts";
import { segmentNumbers } from "./segment/segment-name.ts";
import {
  LOG_START,
  readSegment,
  type SegmentContents,
  SegmentReader,
  segmentSize,
  tornTail,
} from "./segment/segment-reader.ts";

/*
 * Reads the whole log and changes nothing, also beside a process that appends to it; hands over its entries in order.
 * Throws a `FormatVersionError` if a program of another version wrote any of it, and an `EntryError` if `onEntry`
 * throws.
 */

export interface InspectedSegment extends Omit<SegmentContents, "path" | "number" | "salt"> {
  readonly file: string;
  /** Bytes after the last good frame of the newest segment: beside a running server, a write under way. */
  readonly tornTailBytes: number;
}

export async function inspectLog(
  files: Files,
  directory: string,
  onEntry: (entry: LogEntry) => void = () => {},
): Promise<InspectedSegment[]> {
  const texts = createTextColumnReader();
  const found = segmentNumbers(await files.list(directory));
  const segments: InspectedSegment[] = [];
  let position = LOG_START;
  for (const [index, { name, number }] of found.entries()) {
    const path = join(directory, name);
    const segmentBytes = await readSegment(files, path, await segmentSize(files, path));
    if (!segmentBytes.isReadable && !(await files.exists(path))) continue; // The server removed it since it was listed.
    const reader = new SegmentReader(path, number, segmentBytes, position, texts);
    for (let entry = reader.next(); entry !== null; entry = reader.next()) handOver(entry, onEntry);
    position = reader.position;

    const contents = reader.contents();
    const tail = contents.isReadable ? tornTail(contents, index === found.length - 1) : null;
    const { path: file, number: _, salt: __, damage, ...rest } = contents;
    const tornTailBytes = tail?.bytes ?? 0;
    segments.push({ ...rest, file, damage: damage.filter((range) => range !== tail), tornTailBytes });
  }
  return segments;
}
