/*
 * Bytes as one big-endian number in base 62, padded with zeros to `width` characters.
 */

const DIGITS = "0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz";

export function encodeBase62(bytes: Uint8Array, width: number): string {
  let rest = 0n;
  for (const byte of bytes) rest = (rest << 8n) | BigInt(byte);
  let text = "";
  for (; rest > 0n; rest /= 62n) text = DIGITS[Number(rest % 62n)]! + text;
  return text.padStart(width, "0");
}
