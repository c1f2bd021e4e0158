import { join } from "node:path";
import type { AppendFile, Files } from "../runtime/files.ts";
import { encodeSegmentHeader, SEGMENT_HEADER_BYTES, segmentName } from "./segment.ts";

/** The segment that is being written. */
export interface LogSegment {
  /** All of them on disk. */
  readonly bytes: number;
  readonly hasFrames: boolean;
  /** Resolves once the frames are on disk. */
  append(frames: readonly Uint8Array[], frameBytes: number): Promise<void>;
  /** Takes back, on the disk too, what a failed `append` may have written. */
  cutBack(): Promise<void>;
  close(): Promise<void>;
}

/**
 * Puts a new segment in place, header and name on disk. `replace` does so whole or not at all: where the disk
 * is full, no half of a segment is left. A segment of this number that already exists has never held a frame.
 */
export async function createSegment(files: Files, directory: string, number: number): Promise<LogSegment> {
  const path = join(directory, segmentName(number));
  await files.replace(path, encodeSegmentHeader(number));
  return logSegment(await files.openAppend(path));
}

function logSegment(file: AppendFile): LogSegment {
  let bytes = SEGMENT_HEADER_BYTES;
  return {
    get bytes() {
      return bytes;
    },
    get hasFrames() {
      return bytes > SEGMENT_HEADER_BYTES;
    },
    async append(frames, frameBytes) {
      await file.append(frames);
      await file.sync();
      bytes += frameBytes;
    },
    async cutBack() {
      await file.truncate(bytes);
      await file.sync();
    },
    close: () => file.close(),
  };
}
