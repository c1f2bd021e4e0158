import { Buffer } from "node:buffer";
import type { RefusedMessage } from "../../clients/refused-message.ts";
import { FRAME_HEADER_BYTES } from "../../lib/frames/frame.ts";
import { padded, type Views } from "../../lib/frames/views.ts";
import { type EntrySummary, ID_BYTES, toldOf } from "./entry.ts";

/*
 * An entry as the payload of a frame:
 *
 *    0  id, 16 bytes
 *   16  f64  last arrival, Unix ms
 *   24  u32  number of arrivals
 *   28  u32  bytes of the JSON
 *   32  u32  bytes of the body
 *   36  u32  0
 *   40  JSON of the message without its body, the body, zeros up to a multiple of 8
 *
 * What a further arrival changes has a fixed size, so that a frame keeps its length.
 */
const LAST_ARRIVED_OFFSET = 16;
const COUNT_OFFSET = 24;
const JSON_BYTES_OFFSET = 28;
const BODY_BYTES_OFFSET = 32;
const JSON_OFFSET = 40;
const COUNT_MAX = 2 ** 32 - 1;

/** The number of arrivals and the last one, from an entry's frame. */
export type Arrivals = Pick<EntrySummary, "count" | "lastArrivedMs">;

/** A frame without its checksum. */
export function encodeEntry({ body, ...rest }: RefusedMessage, id: Uint8Array): Uint8Array<ArrayBuffer> {
  const json = Buffer.from(JSON.stringify(rest));
  const frame = new Uint8Array(padded(FRAME_HEADER_BYTES + JSON_OFFSET + json.length + body.length));
  const view = new DataView(frame.buffer, FRAME_HEADER_BYTES);
  view.setUint32(JSON_BYTES_OFFSET, json.length, true);
  view.setUint32(BODY_BYTES_OFFSET, body.length, true);
  frame.set(id, FRAME_HEADER_BYTES);
  frame.set(json, FRAME_HEADER_BYTES + JSON_OFFSET);
  frame.set(body, FRAME_HEADER_BYTES + JSON_OFFSET + json.length);
  writeArrivals(frame, { count: 1, lastArrivedMs: rest.arrivedMs });
  return frame;
}

/** Invalidates the frame's checksum. */
export function writeArrivals(frame: Uint8Array<ArrayBuffer>, { count, lastArrivedMs }: Arrivals): void {
  const view = new DataView(frame.buffer, frame.byteOffset + FRAME_HEADER_BYTES);
  view.setFloat64(LAST_ARRIVED_OFFSET, lastArrivedMs, true);
  view.setUint32(COUNT_OFFSET, Math.min(count, COUNT_MAX), true);
}

/** The arrivals in a valid frame. */
export function readArrivals({ u32, f64 }: Views, payloadStart: number): Arrivals {
  return {
    count: u32[(payloadStart + COUNT_OFFSET) >> 2]!,
    lastArrivedMs: f64[(payloadStart + LAST_ARRIVED_OFFSET) >> 3]!,
  };
}

/** The summary in a valid frame; null if it is not an entry. */
export function decodeSummary(views: Views, payloadStart: number, payloadEnd: number): EntrySummary | null {
  const ends = findEnds(views, payloadStart, payloadEnd);
  if (ends === null) return null;
  const id = views.bytes.toString("hex", payloadStart, payloadStart + ID_BYTES);
  const bodyBytes = ends.bodyEnd - ends.bodyStart;
  const arrivals = readArrivals(views, payloadStart);
  return { ...toldOf(ends.message), id, bodyBytes, ...arrivals };
}

/** Whether a valid frame is neither an entry nor the empty one that begins a segment. */
export function isDamage(views: Views, payloadStart: number, payloadEnd: number): boolean {
  return payloadEnd > payloadStart && decodeSummary(views, payloadStart, payloadEnd) === null;
}

/** The message of a valid frame, with a copy of its body; null if it is not an entry. */
export function decodeMessage(views: Views, payloadStart: number, payloadEnd: number): RefusedMessage | null {
  const ends = findEnds(views, payloadStart, payloadEnd);
  if (ends === null) return null;
  return { ...ends.message, body: new Uint8Array(views.bytes.subarray(ends.bodyStart, ends.bodyEnd)) };
}

/** Only this server knows the salt of a frame, so it has written the frame's JSON. */
function findEnds({ bytes, u32 }: Views, payloadStart: number, payloadEnd: number) {
  if (payloadEnd - payloadStart < JSON_OFFSET) return null;
  const jsonStart = payloadStart + JSON_OFFSET;
  const bodyStart = jsonStart + u32[(payloadStart + JSON_BYTES_OFFSET) >> 2]!;
  const bodyEnd = bodyStart + u32[(payloadStart + BODY_BYTES_OFFSET) >> 2]!;
  if (padded(bodyEnd) !== payloadEnd) return null;
  try {
    const message = JSON.parse(bytes.toString("utf8", jsonStart, bodyStart)) as Omit<RefusedMessage, "body">;
    return { message, bodyStart, bodyEnd };
  } catch {
    return null;
  }
}
