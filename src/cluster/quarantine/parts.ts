import { padded, type Views } from "../../lib/frames/views.ts";
import { ENTRY_LENGTH_BYTES, type EntryRange } from "../log/group-message.ts";
import { OPERATION_BYTES_MAX } from "./operation.ts";

/*
 * A body may be longer than a message of the stream, so an operation is sent in parts, each an entry of a group:
 *
 *    0  8 bytes of its source, random for each process
 *    8  u32  which operation of that source it is
 *   12  u32  bytes of the operation
 *   16  u32  offset of this part in it
 *   20  u32  bytes of this part
 *   24  the part, zeros up to a multiple of 8
 *
 * A source sends one operation at a time, and each part after the one before has come back. An abandoned operation is
 * dropped when the source starts the next one, or after `FORGOTTEN_AFTER` messages without another part.
 */
const SOURCE_BYTES = 8;
const NUMBER_OFFSET = 8;
const TOTAL_OFFSET = 12;
const START_OFFSET = 16;
const BYTES_OFFSET = 20;
const PART_HEAD_BYTES = 24;

/** The overhead of a part in a group. */
export const PART_OVERHEAD_BYTES = ENTRY_LENGTH_BYTES + PART_HEAD_BYTES;

/** Returns a frame for a group, with free space for its length. `source` is 16 hexadecimal digits. */
export function encodePart(
  operation: Uint8Array,
  start: number,
  end: number,
  { source, number }: { readonly source: string; readonly number: number },
): Uint8Array<ArrayBuffer> {
  const frame = new Uint8Array(padded(PART_OVERHEAD_BYTES + end - start));
  const view = new DataView(frame.buffer, ENTRY_LENGTH_BYTES);
  view.setBigUint64(0, BigInt(`0x${source}`));
  view.setUint32(NUMBER_OFFSET, number, true);
  view.setUint32(TOTAL_OFFSET, operation.length, true);
  view.setUint32(START_OFFSET, start, true);
  view.setUint32(BYTES_OFFSET, end - start, true);
  frame.set(operation.subarray(start, end), PART_OVERHEAD_BYTES);
  return frame;
}

export interface OperationPart {
  readonly source: string;
  readonly number: number;
  readonly totalBytes: number;
  readonly start: number;
  /** A view into the message. */
  readonly bytes: Uint8Array;
}

/** Returns null for a damaged part. */
export function decodePart({ bytes, u32 }: Views, { start: at, end }: EntryRange): OperationPart | null {
  if (end - at < PART_HEAD_BYTES) return null;
  const number = u32[(at + NUMBER_OFFSET) >> 2]!;
  const totalBytes = u32[(at + TOTAL_OFFSET) >> 2]!;
  const start = u32[(at + START_OFFSET) >> 2]!;
  const partBytes = u32[(at + BYTES_OFFSET) >> 2]!;
  const isInside = totalBytes <= OPERATION_BYTES_MAX && start + partBytes <= totalBytes;
  if (partBytes === 0 || !isInside || at + padded(PART_HEAD_BYTES + partBytes) !== end) return null;
  const from = at + PART_HEAD_BYTES;
  const source = bytes.toString("hex", at, at + SOURCE_BYTES);
  return { source, number, totalBytes, start, bytes: bytes.subarray(from, from + partBytes) };
}

interface Incomplete {
  readonly number: number;
  readonly bytes: Uint8Array;
  /** Bytes received. */
  length: number;
  /** The messages of the first and the latest part. */
  readonly firstMessage: number;
  lastMessage: number;
}

/** Concurrent incomplete operations: there are a few nodes, and each takes up to 32 MiB here. */
const INCOMPLETE_MAX = 8;

/** An operation is dropped after this many messages without another part. */
const FORGOTTEN_AFTER = 4096;

export type Reassembled = Uint8Array | "incomplete" | "abandoned";

/** Reassembles operations. Its decisions depend only on the messages, so they are the same on every node. */
export class Reassembly {
  readonly #incomplete = new Map<string, Incomplete>();

  /** Returns the whole operation if this is its last part. */
  add(message: number, part: OperationPart): Reassembled {
    this.#forget(message);
    const { source, number, totalBytes, start, bytes } = part;
    if (bytes.length === totalBytes) return bytes;
    const known = this.#incomplete.get(source);
    if (start === 0 && (known === undefined || known.number < number)) {
      this.#incomplete.delete(source);
      if (this.#incomplete.size >= INCOMPLETE_MAX) this.#forgetOldest();
      const begun = new Uint8Array(totalBytes);
      begun.set(bytes);
      const since = { firstMessage: message, lastMessage: message };
      this.#incomplete.set(source, { number, bytes: begun, length: bytes.length, ...since });
      return "incomplete";
    }
    if (known === undefined || known.number !== number || known.length !== start) return "abandoned";
    known.bytes.set(bytes, start);
    known.length += bytes.length;
    known.lastMessage = message;
    if (known.length < totalBytes) return "incomplete";
    this.#incomplete.delete(source);
    return known.bytes;
  }

  /** The first message of the incomplete operations; null if there are none. */
  get firstMessage(): number | null {
    const first = [...this.#incomplete.values()].map(({ firstMessage }) => firstMessage);
    return first.length === 0 ? null : Math.min(...first);
  }

  #forget(message: number): void {
    for (const [source, { lastMessage }] of this.#incomplete)
      if (message - lastMessage > FORGOTTEN_AFTER) this.#incomplete.delete(source);
  }

  #forgetOldest(): void {
    const oldest = this.#incomplete.keys().next().value!; // A map keeps the order of insertion.
    this.#incomplete.delete(oldest);
  }
}
