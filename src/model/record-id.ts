import { createHash } from "node:crypto";
import type { AppId, DeviceId } from "./ids.ts";

/*
 * A record's id in ULID form (https://github.com/ulid/spec): 10 characters of Crockford base 32 for the timestamp's 48
 * bits, 16 for the first 80 bits of SHA-256 over `app NUL device`. It follows from app, device and timestamp, so it is
 * not stored and never changes. App and device ids contain no NUL, so two pairs never have the same hash input.
 */
export const RECORD_ID_TIME_CHARACTERS = 10;

const DIGEST_BYTES = 10;
const CROCKFORD = "0123456789ABCDEFGHJKMNPQRSTVWXYZ";

/** The length of `deviceDigest`. */
export const RECORD_ID_DIGEST_CHARACTERS = 16;

/** The last 16 characters of all record ids of a device. */
export function deviceDigest(appId: AppId, deviceId: DeviceId): string {
  return crockfordDigest(createHash("sha256").update(`${appId}\0${deviceId}`).digest());
}

/** The first 80 bits of a hash in Crockford base 32. */
export function crockfordDigest(hash: Uint8Array): string {
  let text = "";
  let bits = 0;
  let bitCount = 0;
  for (let i = 0; i < DIGEST_BYTES; i++) {
    bits = ((bits << 8) | hash[i]!) & 0xffff;
    for (bitCount += 8; bitCount >= 5; ) {
      bitCount -= 5;
      text += CROCKFORD[(bits >> bitCount) & 31];
    }
  }
  return text;
}

/** Every pair of characters as a 16-bit number, by their ten bits: half as many stores. */
const PAIRS = new Uint16Array(
  new TextEncoder().encode(
    Array.from({ length: 1024 }, (_, bits) => CROCKFORD[bits >> 5]! + CROCKFORD[bits & 31]!).join(""),
  ).buffer,
);
const LITTLE_ENDIAN = true;

/** Writes the first 10 characters of an id at `position`. */
export function writeRecordIdTime(view: DataView, position: number, timestampMs: number): void {
  // 48 bits exceed a 32-bit operation, so the upper four characters and the lower six are computed separately.
  const high = Math.floor(timestampMs / 2 ** 30);
  const low = timestampMs - high * 2 ** 30;
  view.setUint16(position, PAIRS[(high >> 10) & 1023]!, LITTLE_ENDIAN);
  view.setUint16(position + 2, PAIRS[high & 1023]!, LITTLE_ENDIAN);
  view.setUint16(position + 4, PAIRS[low >> 20]!, LITTLE_ENDIAN);
  view.setUint16(position + 6, PAIRS[(low >> 10) & 1023]!, LITTLE_ENDIAN);
  view.setUint16(position + 8, PAIRS[low & 1023]!, LITTLE_ENDIAN);
}
