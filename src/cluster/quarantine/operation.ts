import { Buffer } from "node:buffer";
import { FRAME_HEADER_BYTES } from "../../lib/frames/frame.ts";
import { type Views, viewsOf } from "../../lib/frames/views.ts";
import { isObject } from "../../lib/is-object.ts";
import type { AppId } from "../../model/ids.ts";
import { ID_BYTES } from "../../service/quarantine/entry.ts";
import { decodeMessage } from "../../service/quarantine/entry-format.ts";
import type { Arrival, PreparedEntry } from "../../service/quarantine/put-queue.ts";

/** A change of the quarantine that all nodes apply in the order of the stream. */
export type Operation =
  /** The entries have one sender. */
  | { readonly kind: "put"; readonly entries: readonly PreparedEntry[] }
  | { readonly kind: "delete"; readonly appId: AppId; readonly ids: readonly string[] }
  | { readonly kind: "again"; readonly arrivals: readonly Arrival[] };

/*
 * An operation as bytes:
 *
 *    0  u8   1 for put, 2 for delete, 3 for again
 *    1  7 zeros
 *    8  put: its entries, each: u32 bytes of it, a multiple of 8; u32 zero; the payload of its frame
 *       (quarantine/entry-format.ts); delete and again: JSON
 *
 * Entries contain data from clients, but their bounds come only from our own length fields.
 */
const CODES = { put: 1, delete: 2, again: 3 } as const satisfies Record<Operation["kind"], number>;
export const OPERATION_HEAD_BYTES = 8;
const ENTRY_HEAD_BYTES = 8;

/** A body has at most 16 MiB; the other fields of a message are small. */
export const OPERATION_BYTES_MAX = 32 * 1024 * 1024;

export function encodeOperation(operation: Operation): Uint8Array<ArrayBuffer> {
  if (operation.kind === "put") return encodePut(operation.entries);
  const { kind, ...rest } = operation;
  const json = Buffer.from(JSON.stringify(rest));
  const bytes = new Uint8Array(OPERATION_HEAD_BYTES + json.length);
  bytes[0] = CODES[kind];
  bytes.set(json, OPERATION_HEAD_BYTES);
  return bytes;
}

function encodePut(entries: readonly PreparedEntry[]): Uint8Array<ArrayBuffer> {
  const bytes = new Uint8Array(
    OPERATION_HEAD_BYTES + entries.reduce((sum, entry) => sum + putBytes(entry), 0),
  );
  const view = new DataView(bytes.buffer);
  bytes[0] = CODES.put;
  let at = OPERATION_HEAD_BYTES;
  for (const entry of entries) {
    view.setUint32(at, entry.frame.length - FRAME_HEADER_BYTES, true);
    bytes.set(entry.frame.subarray(FRAME_HEADER_BYTES), at + ENTRY_HEAD_BYTES);
    at += putBytes(entry);
  }
  return bytes;
}

/** The bytes of an entry in a put. */
export function putBytes({ frame }: PreparedEntry): number {
  return ENTRY_HEAD_BYTES + frame.length - FRAME_HEADER_BYTES;
}

/** Returns null for an unknown or damaged operation. */
export function decodeOperation(bytes: Uint8Array): Operation | null {
  if (bytes.length < OPERATION_HEAD_BYTES) return null;
  switch (bytes[0]) {
    case CODES.put:
      return decodePut(viewsOf(bytes));
    case CODES.delete:
      return decodeDelete(parseRest(bytes));
    case CODES.again:
      return decodeAgain(parseRest(bytes));
    default:
      return null;
  }
}

function decodePut(views: Views): Operation | null {
  const { bytes, u32 } = views;
  const entries: PreparedEntry[] = [];
  for (let at = OPERATION_HEAD_BYTES; at < bytes.length; ) {
    if (at + ENTRY_HEAD_BYTES > bytes.length) return null;
    const start = at + ENTRY_HEAD_BYTES;
    const end = start + u32[at >> 2]!;
    if (end % 8 !== 0 || end > bytes.length) return null;
    const message = decodeMessage(views, start, end);
    if (message === null) return null;
    const frame = new Uint8Array(FRAME_HEADER_BYTES + end - start);
    frame.set(bytes.subarray(start, end), FRAME_HEADER_BYTES);
    entries.push({ id: bytes.toString("hex", start, start + ID_BYTES), message, frame });
    at = end;
  }
  return entries.length === 0 ? null : { kind: "put", entries };
}

function decodeDelete({ appId, ids }: Readonly<Record<string, unknown>>): Operation | null {
  if (typeof appId !== "string" || !Array.isArray(ids) || !ids.every((id) => typeof id === "string"))
    return null;
  return { kind: "delete", appId: appId as AppId, ids };
}

function decodeAgain({ arrivals }: Readonly<Record<string, unknown>>): Operation | null {
  return Array.isArray(arrivals) && arrivals.every(isArrival) ? { kind: "again", arrivals } : null;
}

function isArrival(value: unknown): value is Arrival {
  if (!isObject(value)) return false;
  const { appId, id, count, lastArrivedMs } = value;
  const texts = [appId, id];
  return (
    texts.every((text) => typeof text === "string") &&
    [count, lastArrivedMs].every((number) => typeof number === "number")
  );
}

/** Returns an empty object if the JSON is invalid or not an object. */
function parseRest(bytes: Uint8Array): Readonly<Record<string, unknown>> {
  try {
    const rest: unknown = JSON.parse(new TextDecoder().decode(bytes.subarray(OPERATION_HEAD_BYTES)));
    return isObject(rest) ? rest : {};
  } catch (error) {
    if (!(error instanceof SyntaxError)) throw error;
    return {};
  }
}
