import { join } from "node:path";
import type { Files } from "../runtime/files.ts";
import type { LogEntry } from "./entry/entry.ts";
import { createTextColumnReader } from "./entry/text-column.ts";
import { segmentNumbers } from "./segment/segment-name.ts";
import { LOG_START, readSegment, SegmentReader, segmentSize, tornTail } from "./segment/segment-reader.ts";

/** Bytes of the log that were acknowledged and can't be read. */
export class DamagedLogError extends Error {
  override readonly name = "DamagedLogError";
}

/**
 * Every entry of the log, in order and one at a time: whoever takes them may keep it waiting, for a segment is all that
 * is held. Changes nothing. Throws a `DamagedLogError` at the end of a segment that is not whole, and a
 * `FormatVersionError`.
 */
export async function* scanLog(files: Files, directory: string): AsyncGenerator<LogEntry, void> {
  const found = segmentNumbers(await files.list(directory));
  const texts = createTextColumnReader();
  let position = LOG_START;
  for (const [index, { name, number }] of found.entries()) {
    const path = join(directory, name);
    const source = await readSegment(files, path, await segmentSize(files, path));
    const reader = new SegmentReader(path, number, source, position, texts);
    for (let entry = reader.next(); entry !== null; entry = reader.next()) yield entry;
    position = reader.position;
    const contents = reader.contents();
    const torn = tornTail(contents, index === found.length - 1);
    if (!contents.isReadable || contents.damage.some((range) => range !== torn))
      throw new DamagedLogError(`"${path}" is damaged.`);
  }
}
