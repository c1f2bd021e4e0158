import { basename } from "node:path";
import { numberIndex } from "../../../src/model/location-fields.ts";
import { openFrames } from "../../../src/wal/scan-segment.ts";
import { parseSegmentName } from "../../../src/wal/segment-name.ts";
import { createTextColumnReader } from "../../../src/wal/text-column.ts";
import { viewsOf } from "../../../src/wal/views.ts";
import { BATCH_MARK } from "./reports.ts";

/** Where the log holds an entry. */
export interface LogFrame {
  readonly path: string;
  readonly start: number;
  readonly end: number;
  readonly sequence: number;
  readonly appId: string;
  /** The number of its batch. */
  readonly mark: number;
}

const MARK = numberIndex(BATCH_MARK);

export function isSegment(path: string): boolean {
  return parseSegmentName(basename(path)) !== null;
}

/** The good frames of a disk's log: only to know what lies where, never what must be there. */
export function findFrames(contents: ReadonlyMap<string, Uint8Array>): LogFrame[] {
  const texts = createTextColumnReader();
  const frames: LogFrame[] = [];
  for (const path of [...contents.keys()].filter(isSegment).sort()) {
    const views = viewsOf(contents.get(path)!);
    const { scanner, format } = openFrames(path, parseSegmentName(basename(path)) ?? 0, views, 0);
    const decoder = format.createDecoder(texts, path);
    while (scanner.next()) {
      const { sequence, payloadStart, payloadEnd } = scanner;
      const entry = decoder.decode(views, payloadStart, payloadEnd, sequence);
      if (entry === null) continue;
      const { appId, batch } = entry;
      frames.push({
        path,
        start: scanner.start,
        end: payloadEnd,
        sequence,
        appId,
        mark: batch.numbers[MARK]![0]!,
      });
    }
  }
  return frames;
}
