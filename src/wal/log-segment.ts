import { join } from "node:path";
import { createSaltedFrames, type SaltedFrames } from "../lib/frames/frame.ts";
import type { UtcDay } from "../model/time/utc-day.ts";
import type { AppendFile, Files } from "../runtime/files.ts";
import { addDays, type ReportsByDay } from "./batch-parts.ts";
import { encodeSegmentHead, SEGMENT_HEAD_BYTES, segmentName } from "./segment.ts";

/** The segment that is being written. */
export interface LogSegment {
  readonly number: number;
  /** What completes frames for this segment and no other. */
  readonly frames: SaltedFrames;
  /** All of them on disk. */
  readonly bytes: number;
  readonly hasFrames: boolean;
  /** In its frames. */
  readonly reports: ReportsByDay;
  /** Resolves once the frames, with these reports, are on disk, with how long their sync took. */
  append(
    frames: readonly Uint8Array[],
    frameBytes: number,
    frameReports: ReportsByDay,
  ): Promise<{ readonly syncMs: number }>;
  /** Takes back, on the disk too, what a failed `append` may have written. */
  cutBack(): Promise<void>;
  close(): Promise<void>;
}

/**
 * Puts a new segment in place, head and name on disk. `replace` does so whole or not at all: where the disk
 * is full, no half of a segment is left. A segment of this number that already exists has never held a frame.
 */
export async function createSegment(
  files: Files,
  directory: string,
  number: number,
  salt: Uint8Array,
): Promise<LogSegment> {
  const path = join(directory, segmentName(number));
  await files.replace(path, encodeSegmentHead(number, salt));
  return logSegment(number, createSaltedFrames(salt), await files.openAppend(path));
}

function logSegment(number: number, frames: SaltedFrames, file: AppendFile): LogSegment {
  const reports = new Map<UtcDay, number>();
  let bytes = SEGMENT_HEAD_BYTES;
  return {
    number,
    frames,
    reports,
    get bytes() {
      return bytes;
    },
    get hasFrames() {
      return bytes > SEGMENT_HEAD_BYTES;
    },
    async append(written, frameBytes, frameReports) {
      await file.append(written);
      const startedMs = performance.now();
      await file.sync();
      const syncMs = performance.now() - startedMs;
      bytes += frameBytes;
      addDays(frameReports, reports);
      return { syncMs };
    },
    async cutBack() {
      await file.truncate(bytes);
      await file.sync();
    },
    close: () => file.close(),
  };
}
