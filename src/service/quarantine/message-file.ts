import { Buffer } from "node:buffer";
import { join } from "node:path";
import { crc32 } from "node:zlib";
import type { RefusedMessage } from "../../clients/refused-message.ts";
import { FormatVersionError } from "../../lib/text/versioned-json.ts";
import { FileError, type Files, isPassing } from "../../runtime/files.ts";
import { type ToldOfMessage, toldOf } from "./entry.ts";

/*
 * A message of the quarantine as a file. Its name is the sequence of the log's entry that completed it, and its id;
 * numbers are little-endian:
 *
 *    0  "WHEREQRN"
 *    8  u32  version of this layout, 2
 *   12  u32  CRC-32 of the version, and of all from here to the end of the JSON
 *   16  u32  bytes of the JSON
 *   20  u32  bytes of the body
 *   24  u32  CRC-32 of the body
 *   28  u32  zero
 *   32  JSON of the message without its body, body
 */
const MARK = Buffer.from("WHEREQRN");
const FORMAT_VERSION = 2;
const SUM_OFFSET = 12;
const JSON_BYTES_OFFSET = 16;
const BODY_BYTES_OFFSET = 20;
const BODY_SUM_OFFSET = 24;
const HEAD_BYTES = 32;

/** Takes the place of a message for a moment, when its removal is repeated. */
export const REMOVED_FILE = Buffer.from("WHEREQRN removed\n");

const NAME = /^(\d{16})-([0-9a-f]{32})\.message$/;
/** Earlier programs wrote segments of many messages. */
const SEGMENT = /^\d{12}\.entries$/;
/** The file beside the messages that says when they expire. */
export const EXPIRY_FILE = "expiry.json";

/** Whether a file belongs to the quarantine. */
export function isInQuarantine(name: string): boolean {
  return NAME.test(name) || name === EXPIRY_FILE;
}

export function messageFileName(sequence: number, id: string): string {
  return `${String(sequence).padStart(16, "0")}-${id}.message`;
}

export function encodeMessageFile({ body, ...rest }: RefusedMessage): Uint8Array<ArrayBuffer> {
  const json = Buffer.from(JSON.stringify(rest));
  const file = new Uint8Array(HEAD_BYTES + json.length + body.length);
  const view = new DataView(file.buffer);
  file.set(MARK);
  view.setUint32(MARK.length, FORMAT_VERSION, true);
  view.setUint32(JSON_BYTES_OFFSET, json.length, true);
  view.setUint32(BODY_BYTES_OFFSET, body.length, true);
  view.setUint32(BODY_SUM_OFFSET, crc32(body), true);
  file.set(json, HEAD_BYTES);
  file.set(body, HEAD_BYTES + json.length);
  view.setUint32(SUM_OFFSET, sumOf(file, HEAD_BYTES + json.length), true);
  return file;
}

const VERSION_SUM = crc32(new Uint8Array([FORMAT_VERSION, 0, 0, 0]));

/** The checksum that the file has if it is of this version. */
function sumOf(file: Uint8Array, jsonEnd: number): number {
  return crc32(file.subarray(JSON_BYTES_OFFSET, jsonEnd), VERSION_SUM);
}

/** What a list shows of a message's file. */
export interface MessageHead extends ToldOfMessage {
  readonly bodyBytes: number;
  readonly fileBytes: number;
}

/** The message in the bytes of a file; null if they are damaged. */
export function decodeMessageFile(bytes: Uint8Array): RefusedMessage | null {
  const json = readJson(bytes);
  if (json === null) return null;
  const { value, bodyStart, bodyBytes, bodySum } = json;
  const body = new Uint8Array(bytes.subarray(bodyStart));
  return body.length === bodyBytes && crc32(body) === bodySum ? { ...value, body } : null;
}

/** Like `decodeMessageFile()`, without the body: `bytes` may end behind the JSON. */
export function decodeMessageHead(bytes: Uint8Array): MessageHead | null {
  const json = readJson(bytes);
  if (json === null) return null;
  const { value, bodyStart, bodyBytes } = json;
  return { ...toldOf(value), bodyBytes, fileBytes: bodyStart + bodyBytes };
}

/** Only this program writes such files, so a JSON with the right checksum is a message. */
function readJson(bytes: Uint8Array) {
  if (!hasMark(bytes) || uint32At(bytes, MARK.length) !== FORMAT_VERSION) return null;
  const view = new DataView(bytes.buffer, bytes.byteOffset);
  const bodyStart = HEAD_BYTES + view.getUint32(JSON_BYTES_OFFSET, true);
  if (bodyStart > bytes.length) return null;
  if (sumOf(bytes, bodyStart) !== view.getUint32(SUM_OFFSET, true)) return null;
  const text = Buffer.from(bytes.buffer, bytes.byteOffset + HEAD_BYTES, bodyStart - HEAD_BYTES).toString();
  const value = JSON.parse(text) as Omit<RefusedMessage, "body">;
  const bodyBytes = view.getUint32(BODY_BYTES_OFFSET, true);
  return { value, bodyStart, bodyBytes, bodySum: view.getUint32(BODY_SUM_OFFSET, true) };
}

/** A file of the quarantine, as its name and head tell. */
export interface FoundMessage {
  readonly name: string;
  readonly sequence: number;
  readonly id: string;
  /** Null if the message is removed, or damaged, or can't be read. */
  readonly head: MessageHead | null;
  /** Whether the file is a `REMOVED_FILE`. */
  readonly isRemoved: boolean;
}

/** Heads are mostly shorter. */
const HEAD_READ_BYTES = 4096;
/** Files that are read at the same time. */
const READS_MAX = 32;

/** All messages in the order of the log. Throws a `FormatVersionError` if another version wrote any of them. */
export async function readMessageHeads(files: Files, directory: string): Promise<FoundMessage[]> {
  const names = await files.list(directory);
  const segment = names.find((name) => SEGMENT.test(name));
  if (segment !== undefined)
    throw FormatVersionError.of("quarantine segment", join(directory, segment), FORMAT_VERSION, 1);
  const messages = names.filter((name) => NAME.test(name)); // They are sorted, and so are their sequences.
  const all: FoundMessage[] = [];
  for (let start = 0; start < messages.length; start += READS_MAX) {
    const some = messages.slice(start, start + READS_MAX);
    all.push(...(await Promise.all(some.map((name) => readMessageHead(files, directory, name)))));
  }
  return all;
}

async function readMessageHead(files: Files, directory: string, name: string): Promise<FoundMessage> {
  const [, digits, id] = NAME.exec(name)!;
  const path = join(directory, name);
  const identity = { name, sequence: Number(digits), id: id!, isRemoved: false };
  try {
    const bytes = await files.size(path);
    let start = await files.readRange(path, 0, HEAD_READ_BYTES);
    if (REMOVED_FILE.equals(start)) return { ...identity, head: null, isRemoved: true };
    const headBytes = start.length < HEAD_BYTES ? 0 : HEAD_BYTES + uint32At(start, JSON_BYTES_OFFSET);
    if (headBytes > start.length) start = await files.readRange(path, 0, Math.min(headBytes, bytes));
    refuseOtherVersion(start, headBytes, path);
    const head = decodeMessageHead(start);
    return { ...identity, head: head?.fileBytes === bytes ? head : null };
  } catch (error) {
    if (!(error instanceof FileError) || isPassing(error)) throw error;
    return { ...identity, head: null };
  }
}

function refuseOtherVersion(bytes: Uint8Array, jsonEnd: number, path: string): void {
  if (!hasMark(bytes)) return;
  const version = uint32At(bytes, MARK.length);
  const isOurs = sumOf(bytes, jsonEnd) === uint32At(bytes, SUM_OFFSET); // Its version is damaged.
  if (version !== FORMAT_VERSION && !isOurs)
    throw FormatVersionError.of("message of the quarantine", path, FORMAT_VERSION, version);
}

function hasMark(bytes: Uint8Array): boolean {
  return bytes.length >= HEAD_BYTES && Buffer.from(bytes.buffer, bytes.byteOffset, MARK.length).equals(MARK);
}

function uint32At(bytes: Uint8Array, offset: number): number {
  return new DataView(bytes.buffer, bytes.byteOffset).getUint32(offset, true);
}
