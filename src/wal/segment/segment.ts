import { HEAD_BYTES, HEADERS_AT, HeadFormat } from "../../lib/frames/head.ts";
import type { Views } from "../../lib/frames/views.ts";

export { type CreateSalt, createRandomSalt } from "../../lib/frames/head.ts";

/*
 * One file of the log in version 2 of the format, which is written now (segment-v1.ts has the one before): the head of
 * a file of salted frames (head.ts), and frames. The head's first 32 bytes are as in version 1, whose programs go no
 * further than to the version.
 */
const HEADS = new HeadFormat("WHEREWAL");

export const SEGMENT_VERSION = 2;
export const SEGMENT_HEADERS_AT = HEADERS_AT;
export const SEGMENT_HEAD_BYTES = HEAD_BYTES;

/**
 * A segment's sequences begin at its number and lie below that and this: a frame that says otherwise is damage, and
 * can't make the log count past what it reads back. A segment of 64 MiB, or one group of entries, has far fewer.
 */
export const SEGMENT_SEQUENCES_MAX = 2 ** 24;

/** What a segment begins with. */
export function encodeSegmentHead(number: number, salt: Uint8Array): Uint8Array {
  return HEADS.encode(SEGMENT_VERSION, number, salt);
}

export const readSalt = (views: Views, at: number) => HEADS.readSalt(views, at);
export const readVersion = (views: Views, at: number) => HEADS.readVersion(views, at);
export const readNumber = (views: Views, at: number) => HEADS.readNumber(views, at);

export function writeCommonHeader(views: Views, version: number, number: number): void {
  HEADS.writeCommonHeader(views, version, number);
}
