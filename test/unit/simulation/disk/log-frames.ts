import { basename, dirname } from "node:path";
import { viewsOf } from "../../../../src/lib/frames/views.ts";
import { numberIndex } from "../../../../src/model/location-fields.ts";
import type { ReportBatch } from "../../../../src/model/report-batch.ts";
import { type UtcDay, utcDayOf } from "../../../../src/model/time/utc-day.ts";
import { createEntryDecoder } from "../../../../src/wal/entry/entry.ts";
import { createTextColumnReader } from "../../../../src/wal/entry/text-column.ts";
import { openSegment, parseSegmentName } from "../../../../src/wal/segment.ts";
import { recordKey } from "../check/model.ts";
import { BATCH_MARK } from "../reports/reports.ts";
import { LOG_DIRECTORY } from "../run/service.ts";

/** Where the log holds an entry. */
export interface LogFrame {
  readonly path: string;
  readonly start: number;
  readonly end: number;
  readonly sequence: number;
  readonly appId: string;
  /** The number of its batch; NaN where all its reports are kept elsewhere by now. */
  readonly mark: number;
  /** The reports that it has, by device and time. */
  readonly reports: ReadonlyMap<string, UtcDay>;
}

const MARK = numberIndex(BATCH_MARK);

export function isSegment(path: string): boolean {
  return dirname(path) === LOG_DIRECTORY && parseSegmentName(basename(path)) !== null;
}

/** The good frames of a disk's log: only to know what lies where, never what must be there. */
export function findFrames(contents: ReadonlyMap<string, Uint8Array>): LogFrame[] {
  const texts = createTextColumnReader();
  const frames: LogFrame[] = [];
  for (const path of [...contents.keys()].filter(isSegment).sort()) {
    const views = viewsOf(contents.get(path)!);
    const { scanner } = openSegment(path, parseSegmentName(basename(path)) ?? 0, views, 0);
    const decoder = createEntryDecoder(texts, path);
    while (scanner.next()) {
      const { sequence, payloadStart, payloadEnd } = scanner;
      const entry = decoder.decode(views, payloadStart, payloadEnd, sequence);
      if (entry?.kind !== "reports") continue;
      const { appId, batch } = entry;
      frames.push({
        path,
        start: scanner.start,
        end: payloadEnd,
        sequence,
        appId,
        mark: batch.numbers[MARK]![0] ?? Number.NaN,
        reports: reportsOf(batch),
      });
    }
  }
  return frames;
}

function reportsOf({ count, texts, device, timestampMs }: ReportBatch): Map<string, UtcDay> {
  const reports = new Map<string, UtcDay>();
  for (let row = 0; row < count; row++)
    reports.set(recordKey(texts[device[row]!]!, timestampMs[row]!), utcDayOf(timestampMs[row]!));
  return reports;
}
