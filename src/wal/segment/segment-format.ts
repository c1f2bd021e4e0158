import { Buffer } from "node:buffer";
import { createSaltedFrames } from "../../lib/frames/frame.ts";
import type { FrameFormat } from "../../lib/frames/frame-format.ts";
import type { Views } from "../../lib/frames/views.ts";
import { NewerFormatError } from "../../lib/newer-format-error.ts";
import { createEntryDecoder, type EntryDecoder } from "../entry/entry.ts";
import { createEntryV1Decoder } from "../entry/entry-v1.ts";
import type { TextColumnReader } from "../entry/text-column.ts";
import { FRAMES_V1 } from "./frame-v1.ts";
import {
  type CreateSalt,
  encodeSegmentHead,
  readNumber,
  readSalt,
  readVersion,
  SEGMENT_HEADERS_AT,
  SEGMENT_VERSION,
} from "./segment.ts";
import { encodeSegmentV1Head, isSegmentV1, refuseMoreFields } from "./segment-v1.ts";

/** How a segment is read, whichever version it is of. */
export interface SegmentFormat {
  readonly version: 1 | 2;
  /** What the segment should begin with; frames follow. */
  readonly head: Uint8Array;
  /** Whether it does. */
  readonly goodHead: boolean;
  readonly frames: FrameFormat;
  createDecoder(texts: TextColumnReader, path: string): EntryDecoder;
}

/** Of a segment that does not say any more what its frames look like. */
const NO_FRAMES: FrameFormat = { payloadBytes: () => -1, sequence: () => 0, damagedBytes: () => 8 };

/** Looks at how a segment begins. Throws a `NewerFormatError` where a newer program wrote it. */
export function formatOf(views: Views, number: number, path: string): SegmentFormat {
  const [first, second] = SEGMENT_HEADERS_AT;
  const version = readVersion(views, first);
  if (version === 1) {
    refuseMoreFields(views, path);
    return formatV1(views, number, FRAMES_V1);
  }
  // A place that holds a frame of version 1 was never the second header's: what is there came from a client.
  if (version === null && isSegmentV1(views)) return formatV1(views, number, FRAMES_V1);
  // Nor was it where it names another segment: 4 KiB into one of version 1 lie texts and numbers of clients.
  const hasSecond = readNumber(views, second) === number;
  const written = version ?? (hasSecond ? readVersion(views, second) : null) ?? SEGMENT_VERSION;
  if (written > SEGMENT_VERSION) {
    throw new NewerFormatError("log segment", path, `format version ${SEGMENT_VERSION}`, `${written}`);
  }
  const salt = readSalt(views, first) ?? (hasSecond ? readSalt(views, second) : null);
  // Whatever it was, an empty segment that any program reads takes its place.
  if (salt === null) return formatV1(views, number, NO_FRAMES);
  const head = encodeSegmentHead(number, salt);
  const frames = createSaltedFrames(salt);
  return { version: 2, head, goodHead: beginsWith(views, head), frames, createDecoder: createEntryDecoder };
}

function formatV1(views: Views, number: number, frames: FrameFormat): SegmentFormat {
  const head = encodeSegmentV1Head(number);
  return { version: 1, head, goodHead: beginsWith(views, head), frames, createDecoder: createEntryV1Decoder };
}

/** A segment without frames: programs that read a log of this version read it too. */
export function emptySegment(version: 1 | 2, number: number, createSalt: CreateSalt): Uint8Array {
  return version === 1 ? encodeSegmentV1Head(number) : encodeSegmentHead(number, createSalt());
}

function beginsWith({ bytes }: Views, head: Uint8Array): boolean {
  return Buffer.compare(bytes.subarray(0, head.length), head) === 0;
}
