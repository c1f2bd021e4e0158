import { randomBytes } from "node:crypto";
import {
  RECORD_ID_DIGEST_CHARACTERS,
  RECORD_ID_TIME_CHARACTERS,
  writeRecordIdTime,
} from "../../model/record-id.ts";

const CROCKFORD = "0123456789ABCDEFGHJKMNPQRSTVWXYZ";

export const CORRECTION_ID_PATTERN = `^[${CROCKFORD}]{26}$`;

/** An id in ULID form, so later corrections have greater ids. */
export function createCorrectionId(nowMs: number): string {
  const time = new Uint8Array(RECORD_ID_TIME_CHARACTERS);
  writeRecordIdTime(new DataView(time.buffer), 0, nowMs);
  const random = Array.from(randomBytes(RECORD_ID_DIGEST_CHARACTERS), (byte) => CROCKFORD[byte & 31]!);
  return new TextDecoder().decode(time) + random.join("");
}
