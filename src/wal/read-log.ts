import { join } from "node:path";
import { FileError, type Files, isPassing } from "../runtime/files.ts";
import { handOver, type LogEntry } from "./entry/entry.ts";
import { createTextColumnReader } from "./entry/text-column.ts";
import { segmentNumbers } from "./segment.ts";
import {
  LOG_START,
  type SegmentContents,
  SegmentReader,
  type SegmentSource,
  segmentSize,
} from "./segment-reader.ts";

/*
 * Reads the log and changes nothing. A segment is held at a time. Each reader throws a `FormatVersionError` if a
 * program of another version wrote any of it.
 */

/**
 * A reader of each segment among the names of the log's directory, in log order. The caller reads a segment to its end
 * before it takes the next one. An error of the disk that passes is thrown; a segment that the disk can't give back
 * otherwise is no reason to do without the others.
 */
export async function* readLog(
  files: Files,
  directory: string,
  names: readonly string[],
): AsyncGenerator<SegmentReader, void> {
  const texts = createTextColumnReader();
  const found = segmentNumbers(names);
  let position = LOG_START;
  for (const [index, { name, number }] of found.entries()) {
    const path = join(directory, name);
    const file = { path, number, isNewest: index === found.length - 1 };
    const reader = new SegmentReader({ ...file, ...(await readFile(files, path)) }, position, texts);
    yield reader;
    position = reader.position;
  }
}

async function readFile(files: Files, path: string): Promise<Pick<SegmentSource, "bytes" | "isReadable">> {
  try {
    return { bytes: await files.read(path), isReadable: true };
  } catch (error) {
    if (!(error instanceof FileError) || isPassing(error)) throw error;
    return { bytes: new Uint8Array(await segmentSize(files, path)), isReadable: false };
  }
}

/** Bytes of the log that were acknowledged and can't be read. */
export class DamagedLogError extends Error {
  override readonly name = "DamagedLogError";
}

/**
 * Every entry of the log, in order and one at a time; the caller may take its time between two. Throws a
 * `DamagedLogError` at the end of a segment that is not whole.
 */
export async function* scanLog(files: Files, directory: string): AsyncGenerator<LogEntry, void> {
  for await (const reader of readLog(files, directory, await files.list(directory))) {
    for (let entry = reader.next(); entry !== null; entry = reader.next()) yield entry;
    const { path, isReadable, damage, tornTail } = reader.contents();
    if (!isReadable || damage.some((range) => range !== tornTail))
      throw new DamagedLogError(`"${path}" is damaged.`);
  }
}

/** A segment of a log that a process may be appending to. */
export interface InspectedSegment extends Omit<SegmentContents, "path" | "number" | "salt" | "tornTail"> {
  readonly file: string;
  /** Bytes after the last good frame of the newest segment: beside a running server, a write under way. */
  readonly tornTailBytes: number;
}

/**
 * Reads the whole log, also beside a process that appends to it, and hands over its entries in order. Throws an
 * `EntryError` if `onEntry` throws.
 */
export async function inspectLog(
  files: Files,
  directory: string,
  onEntry: (entry: LogEntry) => void = () => {},
): Promise<InspectedSegment[]> {
  const segments: InspectedSegment[] = [];
  for await (const reader of readLog(files, directory, await files.list(directory))) {
    const { isReadable, path } = reader.source;
    if (!isReadable && !(await files.exists(path))) continue; // The server removed it since it was listed.
    for (let entry = reader.next(); entry !== null; entry = reader.next()) handOver(entry, onEntry);
    const { path: file, number: _, salt: __, damage, tornTail, ...rest } = reader.contents();
    const tornTailBytes = tornTail?.bytes ?? 0;
    segments.push({ ...rest, file, damage: damage.filter((range) => range !== tornTail), tornTailBytes });
  }
  return segments;
}
