import { join } from "node:path";
import { FileError, type Files, isPassing } from "../runtime/files.ts";
import { applyEntry, type LogEntry } from "./entry/entry.ts";
import { createTextColumnReader } from "./entry/text-column.ts";
import { segmentNumbers } from "./segment.ts";
import {
  LOG_START,
  type SegmentContents,
  SegmentReader,
  type SegmentSource,
  segmentSize,
} from "./segment-reader.ts";

// Reads the log without changing it, one segment in memory at a time. Each function throws a `FormatVersionError` if
// another version of the program wrote any of it.

/**
 * Yields a reader of each segment among the names of the log's directory, in log order. The caller must read a segment
 * to its end before it takes the next one. Throws a disk error that may pass. A segment that the disk can't read
 * otherwise is yielded as unreadable, so that the others are still read.
 */
export async function* readLog(
  files: Files,
  directory: string,
  names: readonly string[],
): AsyncGenerator<SegmentReader, void> {
  const texts = createTextColumnReader();
  const segments = segmentNumbers(names);
  let position = LOG_START;
  for (const [index, { name, number }] of segments.entries()) {
    const path = join(directory, name);
    const file = { path, number, isNewest: index === segments.length - 1 };
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

/** Acknowledged bytes of the log can't be read. */
export class DamagedLogError extends Error {
  override readonly name = "DamagedLogError";
}

/**
 * Yields every entry of the log, in order; the caller may take its time. Throws a `DamagedLogError` at the end of a
 * segment that is not intact.
 */
export async function* scanLog(files: Files, directory: string): AsyncGenerator<LogEntry, void> {
  for await (const reader of readLog(files, directory, await files.list(directory))) {
    for (let entry = reader.next(); entry !== null; entry = reader.next()) yield entry;
    const { path, isReadable, damage, tornTail } = reader.contents();
    if (!isReadable || damage.some((range) => range !== tornTail))
      throw new DamagedLogError(`"${path}" is damaged.`);
  }
}

/** A segment of a log, which a process may be appending to. */
export interface InspectedSegment extends Omit<SegmentContents, "path" | "number" | "salt" | "tornTail"> {
  readonly file: string;
  /** Bytes after the last good frame of the newest segment. Beside a running server, that is a write in progress. */
  readonly tornTailBytes: number;
}

/**
 /**
  * Reads the whole log, even while a process appends to it, and calls `onEntry` for each entry in order. Throws an
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
    for (let entry = reader.next(); entry !== null; entry = reader.next()) applyEntry(entry, onEntry);
    const { path: file, number: _, salt: __, damage, tornTail, ...rest } = reader.contents();
    const tornTailBytes = tornTail?.bytes ?? 0;
    segments.push({ ...rest, file, damage: damage.filter((range) => range !== tornTail), tornTailBytes });
  }
  return segments;
}
