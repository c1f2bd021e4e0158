import { basename } from "node:path";
import { numberIndex } from "../../../src/model/location-fields.ts";
import { createEntryDecoder } from "../../../src/wal/entry.ts";
import { FrameScanner } from "../../../src/wal/frame.ts";
import { parseSegmentName, SEGMENT_HEADER_BYTES } from "../../../src/wal/segment.ts";
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
  const decoder = createEntryDecoder();
  const frames: LogFrame[] = [];
  for (const path of [...contents.keys()].filter(isSegment).sort()) {
    const views = viewsOf(contents.get(path)!);
    const start = Math.min(SEGMENT_HEADER_BYTES, views.bytes.length);
    const scanner = new FrameScanner(views, start, start, 0);
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
