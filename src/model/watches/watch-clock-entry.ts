import { Buffer } from "node:buffer";
import type { Views } from "../../lib/frames/views.ts";
import type { AppId } from "../ids.ts";

/*
 * The entry of the clock of timed events:
 *
 *    0  u8   kind, 8
 *    1  u8   bytes of the app id, 0
 *    2  u48  zero
 *    8  f64  instant, Unix ms
 */
export const WATCH_CLOCK_KIND = 8;

/** The clock of timed events reaches an instant. It never goes back. */
export interface WatchClockEntry {
  readonly kind: "watch_clock";
  /** Empty: all apps have one clock. */
  readonly appId: AppId;
  readonly atMs: number;
}

const BYTES = 16;
const ALL_APPS = "" as AppId;

export function watchClockEntry(atMs: number): WatchClockEntry {
  return { kind: "watch_clock", appId: ALL_APPS, atMs };
}

/** The encoded entry behind `headroomBytes` for the caller, a multiple of 8. */
export function encodeWatchClockEntry(
  { atMs }: WatchClockEntry,
  headroomBytes: number,
): Uint8Array<ArrayBuffer> {
  const encoded = new Uint8Array(headroomBytes + BYTES);
  encoded[headroomBytes] = WATCH_CLOCK_KIND;
  Buffer.from(encoded.buffer).writeDoubleLE(atMs, headroomBytes + 8);
  return encoded;
}

/** The entry of this kind from `start` to `end`, both 8-aligned; null if the bytes are not valid. */
export function decodeWatchClockEntry({ bytes }: Views, start: number, end: number): WatchClockEntry | null {
  if (end - start !== BYTES || end > bytes.length || bytes.readUIntLE(start + 1, 6) !== 0) return null;
  const atMs = bytes.readDoubleLE(start + 8);
  return Number.isSafeInteger(atMs) ? watchClockEntry(atMs) : null;
}
