import { crc32 } from "node:zlib";
import { assert } from "../../lib/assert.ts";
import { type Views, viewsOf } from "../../lib/frames/views.ts";
import { FormatVersionError } from "../../lib/text/versioned-json.ts";
import { createEntryDecoder, type EntryDecoder, type LogEntry } from "../../wal/entry/entry.ts";
import { createTextColumnReader } from "../../wal/entry/text-column.ts";

/*
 * A message of the stream, 8-aligned, numbers little-endian:
 *
 *    0  u8   kind, 1
 *    1  u8   version of this layout, 2
 *    2  u16  zero
 *    4  u32  CRC-32 of everything after this
 *    8  u32  entries
 *   12  u32  zero
 *   16  the entries, each: u32 bytes of it, a multiple of 8; u32 zero; the entry (entry.ts)
 *
 * An entry contains data from clients, but its bounds come only from our own length fields, so data can't be mistaken
 * for another entry.
 */
const GROUP_KIND = 1;
const GROUP_VERSION = 2;
export const MESSAGE_HEAD_BYTES = 16;
/** The size of the length field before each entry. The encoder of an entry leaves room for it. */
export const ENTRY_LENGTH_BYTES = 8;
const CHECKED_FROM = 8;

/** A damaged message, or one of a newer program. The node can't continue without it. */
export class MessageError extends Error {
  override readonly name = "MessageError";
}

/** Encodes entries as one message. Each frame starts with `ENTRY_LENGTH_BYTES` of free space. */
export function encodeGroup(frames: readonly Uint8Array<ArrayBuffer>[]): Uint8Array<ArrayBuffer> {
  let end = MESSAGE_HEAD_BYTES;
  for (const frame of frames) end += frame.length;
  const { bytes, u32 } = viewsOf(new Uint8Array(end));
  let at = MESSAGE_HEAD_BYTES;
  for (const frame of frames) {
    bytes.set(frame, at);
    u32[at >> 2] = frame.length - ENTRY_LENGTH_BYTES;
    u32[(at >> 2) + 1] = 0;
    at += frame.length;
  }
  bytes[0] = GROUP_KIND;
  bytes[1] = GROUP_VERSION;
  u32[2] = frames.length;
  u32[1] = crc32(bytes.subarray(CHECKED_FROM));
  return new Uint8Array(bytes.buffer as ArrayBuffer);
}

/** Decodes messages of the stream. */
export class MessageReader {
  readonly #stream: string;
  readonly #decoder: EntryDecoder;

  /** Errors name `stream`. */
  constructor(stream: string) {
    this.#stream = stream;
    this.#decoder = createEntryDecoder(createTextColumnReader(), `stream ${stream}`);
  }

  /** Returns the entries in order. Throws a `MessageError` if the message is damaged or unknown. */
  entries(message: number, bytes: Uint8Array): LogEntry[] {
    const views = viewsOf(bytes);
    const entries = this.#isSound(views) ? this.#readEntries(views, message) : null;
    if (entries !== null) return entries;
    throw new MessageError(
      `Message ${message} of the stream "${this.#stream}" (${bytes.length} bytes) is damaged, or not a message of Wherehouse. ` +
        "Nothing is skipped: this node stops.",
    );
  }

  #isSound({ bytes, u32 }: Views): boolean {
    if (bytes.length < MESSAGE_HEAD_BYTES || bytes.length % 8 !== 0 || bytes[0] !== GROUP_KIND) return false;
    if (bytes[1] !== 0 && bytes[1] !== GROUP_VERSION)
      throw FormatVersionError.of("message", `stream ${this.#stream}`, GROUP_VERSION, bytes[1]!);
    const head = GROUP_KIND | (GROUP_VERSION << 8);
    return u32[0] === head && u32[1] === crc32(bytes.subarray(CHECKED_FROM));
  }

  #readEntries(views: Views, message: number): LogEntry[] | null {
    const { bytes, u32 } = views;
    const count = u32[2]!;
    if (count === 0 || count > MESSAGE_ENTRIES_MAX) return null;
    const entries: LogEntry[] = [];
    let at = MESSAGE_HEAD_BYTES;
    for (let index = 0; index < count; index++) {
      if (at + ENTRY_LENGTH_BYTES > bytes.length) return null;
      const start = at + ENTRY_LENGTH_BYTES;
      const end = start + u32[at >> 2]!;
      if (end % 8 !== 0 || end > bytes.length) return null;
      const entry = this.#decoder.decode(views, start, end, entrySequence(message, index));
      if (entry === null) return null;
      entries.push(entry);
      at = end;
    }
    return at === bytes.length ? entries : null;
  }
}

/*
 * The sequence of an entry combines the number of its message and its index in it: it is the same on every node, and
 * grows. Safe integers have room for 8 trillion messages, 280 years at a thousand a second.
 */

/** The maximum number of entries in a message. */
export const MESSAGE_ENTRIES_MAX = 1024;

export function entrySequence(message: number, index: number): number {
  assert(index >= 0 && index < MESSAGE_ENTRIES_MAX, "the entry's index fits a message");
  return message * MESSAGE_ENTRIES_MAX + index;
}

/** The number of the message that contains this sequence. */
export function messageNumberOf(sequence: number): number {
  return Math.floor(sequence / MESSAGE_ENTRIES_MAX);
}
