import { Buffer } from "node:buffer";
import { poly1305 } from "@noble/ciphers/_poly1305.js";
import { xsalsa20, xsalsa20poly1305 } from "@noble/ciphers/salsa.js";
import { equalBytes, randomBytes } from "@noble/ciphers/utils.js";
import { decodeBase64 } from "../../lib/bytes/base64.ts";
import { isObject } from "../../lib/is-object.ts";
import type { Steps } from "../../lib/schedule/steps.ts";
import { LongText } from "../content.ts";

export type Encrypted = Readonly<Record<string, unknown>> & { readonly _type: "encrypted" };

export function isEncrypted(message: unknown): message is Encrypted {
  return isObject(message) && message._type === "encrypted";
}

/** The box of an encrypted message; empty if it has none. */
export function* readBox({ data }: Encrypted): Steps<Uint8Array> {
  if (data instanceof LongText) return yield* decodeBase64(data.bytes);
  return yield* decodeBase64(Buffer.from(typeof data === "string" ? data : ""));
}

/*
 * OwnTracks' encryption: NaCl's secretbox (XSalsa20-Poly1305) after its nonce.
 *
 *    | nonce, 24 bytes | tag, 16 bytes | cipher text, as long as the clear text |
 */

const KEY_BYTES = 32;
const NONCE_BYTES = 24;
const TAG_BYTES = 16;
/** The key stream begins with the tag's key; the rest encrypts the text. */
const TAG_KEY_BYTES = 32;
/** The block size by which the stream's position is counted. */
const BLOCK_BYTES = 64;
/** Decrypted per step, in some 0.5 ms. A box with a photo has megabytes. */
const CHUNK_BYTES = 64 * 1024;

/** The key that the apps derive from a pass phrase: its UTF-8, padded with zeros or cut. */
export function keyOf(passPhrase: string): Uint8Array {
  const key = new Uint8Array(KEY_BYTES);
  key.set(new TextEncoder().encode(passPhrase).subarray(0, KEY_BYTES)); // Like the apps, it may cut a character in two.
  return key;
}

/** Decrypts a box; null if it has another key, or is not a box. */
export function* openBox(key: Uint8Array, box: Uint8Array): Steps<Uint8Array | null> {
  const textStart = NONCE_BYTES + TAG_BYTES;
  if (box.length < textStart) return null;
  const nonce = box.subarray(0, NONCE_BYTES);
  const mac = poly1305.create(xsalsa20(key, nonce, new Uint8Array(TAG_KEY_BYTES)));
  for (let at = textStart; at < box.length; at += CHUNK_BYTES) {
    if (at > textStart) yield;
    mac.update(box.subarray(at, at + CHUNK_BYTES));
  }
  if (!equalBytes(mac.digest(), box.subarray(NONCE_BYTES, textStart))) return null;

  // A copy, unlike a Buffer's `slice`.
  const stream = new Uint8Array(box.subarray(textStart - TAG_KEY_BYTES));
  for (let at = 0; at < stream.length; at += CHUNK_BYTES) {
    if (at > 0) yield;
    const chunk = stream.subarray(at, at + CHUNK_BYTES);
    chunk.set(xsalsa20(key, nonce, chunk, undefined, at / BLOCK_BYTES));
  }
  return stream.subarray(TAG_KEY_BYTES);
}

/** Encrypts a short text. */
export function encryptBox(key: Uint8Array, text: Uint8Array, nonce = randomBytes(NONCE_BYTES)): Uint8Array {
  const cipherText = xsalsa20poly1305(key, nonce).encrypt(text);
  const box = new Uint8Array(NONCE_BYTES + cipherText.length);
  box.set(nonce);
  box.set(cipherText, NONCE_BYTES);
  return box;
}
