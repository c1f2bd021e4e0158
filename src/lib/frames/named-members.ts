import { Buffer } from "node:buffer";
import { parseMembers } from "../text/versioned-json.ts";
import { padded, type Views } from "./views.ts";

/*
 * An entry that is members in JSON of one owner, padded with zeros to a multiple of 8:
 *
 *    0  u8   kind
 *    1  u8   bytes of the owner
 *    2  u16  zero
 *    4  u32  bytes of the members
 *    8  owner (ASCII), members (JSON)
 */

const HEAD_BYTES = 8;

export interface NamedMembers {
  readonly owner: string;
  readonly members: Readonly<Record<string, unknown>>;
}

/** The encoded entry behind `headroomBytes` for the caller, a multiple of 8. */
export function encodeNamedMembers(
  kind: number,
  owner: string,
  members: object,
  headroomBytes: number,
): Uint8Array<ArrayBuffer> {
  const json = Buffer.from(JSON.stringify(members));
  const contentAt = headroomBytes + HEAD_BYTES;
  const encoded = new Uint8Array(padded(contentAt + owner.length + json.length));
  const bytes = Buffer.from(encoded.buffer);
  bytes[headroomBytes] = kind;
  bytes[headroomBytes + 1] = bytes.write(owner, contentAt, "latin1");
  bytes.writeUInt32LE(json.length, headroomBytes + 4);
  bytes.set(json, contentAt + owner.length);
  return encoded;
}

/** The entry from `start` to `end`, both 8-aligned, whatever its kind; null if the bytes are not valid. */
export function decodeNamedMembers({ bytes }: Views, start: number, end: number): NamedMembers | null {
  if (start + HEAD_BYTES > end || end > bytes.length) return null;
  const jsonAt = start + HEAD_BYTES + bytes[start + 1]!;
  const jsonEnd = jsonAt + bytes.readUInt32LE(start + 4);
  if (padded(jsonEnd) !== end) return null;
  const members = parseMembers(bytes.toString("utf8", jsonAt, jsonEnd));
  return members === null ? null : { owner: bytes.toString("latin1", start + HEAD_BYTES, jsonAt), members };
}
