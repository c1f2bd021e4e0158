import { crc32 } from "node:zlib";
import { NewerFormatError } from "../lib/newer-format-error.ts";
import { NUMBER_FIELDS, PROFILE_FIELDS, STATE_FIELDS } from "../model/location-fields.ts";
import { type Views, viewsOf } from "./views.ts";

/*
 * One file of the log, named by its number: a header, then frames (frame.ts).
 *
 *    0  "WHEREWAL"
 *    8  u32  format version
 *   12  u8   number columns, profile fields, state fields of its entries; u8 0
 *   16  u64  number
 *   24  u32  0
 *   28  u32  CRC-32 of bytes 0 to 28
 *
 * A segment's number is the first sequence that it may contain. So the newest name alone says from where
 * sequences go on, also when every frame is gone, and no number is given twice.
 */
export const SEGMENT_HEADER_BYTES = 32;

const MAGIC = "WHEREWAL";
const FORMAT_VERSION = 1;
const CRC_OFFSET = 28;
const TWO_32 = 2 ** 32;
const NAME_DIGITS = 20;
/** More than a million entries a second for eight years; a greater number is no name of ours, and leaves room to count on. */
const NUMBER_MAX = 2 ** 48;
const NAME = /^(\d{20})\.wal$/;
const FIELD_COUNTS = [NUMBER_FIELDS.length, PROFILE_FIELDS.length, STATE_FIELDS.length];

export function segmentName(number: number): string {
  return `${String(number).padStart(NAME_DIGITS, "0")}.wal`;
}

/** The segment's number, or null where the file is no segment. */
export function parseSegmentName(name: string): number | null {
  const number = Number(NAME.exec(name)?.[1] ?? Number.NaN);
  return number > 0 && number <= NUMBER_MAX ? number : null;
}

export function encodeSegmentHeader(number: number): Uint8Array {
  const header = new Uint8Array(SEGMENT_HEADER_BYTES);
  const { bytes, u32 } = viewsOf(header);
  bytes.write(MAGIC, 0, "latin1");
  u32[2] = FORMAT_VERSION;
  bytes.set(FIELD_COUNTS, 12);
  u32[4] = number % TWO_32;
  u32[5] = Math.floor(number / TWO_32);
  u32[7] = crc32(bytes.subarray(0, CRC_OFFSET));
  return header;
}

/** Whether the bytes begin with the header of this segment. Throws a `NewerFormatError` where a newer program wrote it. */
export function hasGoodHeader({ bytes, u32 }: Views, number: number, path: string): boolean {
  if (bytes.length < SEGMENT_HEADER_BYTES || bytes.toString("latin1", 0, MAGIC.length) !== MAGIC)
    return false;
  if (crc32(bytes.subarray(0, CRC_OFFSET)) !== u32[7]) return false;
  const version = u32[2]!;
  const fieldCounts = [...bytes.subarray(12, 15)];
  if (version > FORMAT_VERSION) {
    throw new NewerFormatError("log segment", path, `format version ${FORMAT_VERSION}`, `${version}`);
  }
  if (fieldCounts.some((count, i) => count > FIELD_COUNTS[i]!)) {
    throw new NewerFormatError(
      "log segment",
      path,
      `at most ${FIELD_COUNTS.join(", ")} fields`,
      fieldCounts.join(", "),
    );
  }
  return u32[4]! + u32[5]! * TWO_32 === number;
}
