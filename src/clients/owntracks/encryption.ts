import { Buffer } from "node:buffer";
import { poly1305 } from "@noble/ciphers/_poly1305.js";
import { xsalsa20, xsalsa20poly1305 } from "@noble/ciphers/salsa.js";
import { equalBytes, randomBytes } from "@noble/ciphers/utils.js";
import { decodeBase64 } from "../../lib/bytes/base64.ts";
import { isObject } from "../../lib/is-object.ts";
import type { Steps } from "../../lib/schedule/steps.ts";
import { LongText } from "../content.ts";

/** An encrypted message as it came, with its other members. */
export type Encrypted = Readonly<Record<string, unknown>> & { readonly _type: "encrypted" };

/** Whether a message is one that has to be opened first. */
export function isEncrypted(message: unknown): message is Encrypted {
  return isObject(message) && message._type === "encrypted";
}

/** The box that an encrypted message holds; empty if it holds none. */
export function* readBox({ data }: Encrypted): Steps<Uint8Array> {
  if (data instanceof LongText) return yield* decodeBase64(data.bytes);
  return yield* decodeBase64(Buffer.from(typeof data === "string" ? data : ""));
}

/*
 * OwnTracks' encryption: NaCl's secretbox (XSalsa20-Poly1305) behind its nonce.
 *
 *    | nonce, 24 bytes | tag, 16 bytes | cipher text, as long as the clear text |
 */

const KEY_BYTES = 32;
const NONCE_BYTES = 24;
const TAG_BYTES = 16;
/** The key stream begins with the key of the tag; the text is encrypted with what follows. */
const TAG_KEY_BYTES = 32;
/** The stream's own unit, by which it is counted. */
const BLOCK_BYTES = 64;
/** Takes some 0.5 ms. A box with a photo in it has megabytes. */
const PIECE_BYTES = 64 * 1024;

/** The key that the apps make of a pass phrase: its UTF-8, filled up with zeros or cut. */
export function keyOf(passPhrase: string): Uint8Array {
  const key = new Uint8Array(KEY_BYTES);
  key.set(new TextEncoder().encode(passPhrase).subarray(0, KEY_BYTES)); // Apps cut characters in two.
  return key;
}

/** What is in a box; null where it was made with another key, or is none. */
export function* openBox(key: Uint8Array, box: Uint8Array): Steps<Uint8Array | null> {
  const textStart = NONCE_BYTES + TAG_BYTES;
  if (box.length < textStart) return null;
  const nonce = box.subarray(0, NONCE_BYTES);
  const mac = poly1305.create(xsalsa20(key, nonce, new Uint8Array(TAG_KEY_BYTES)));
  for (let at = textStart; at < box.length; at += PIECE_BYTES) {
    if (at > textStart) yield;
    mac.update(box.subarray(at, at + PIECE_BYTES));
  }
  if (!equalBytes(mac.digest(), box.subarray(NONCE_BYTES, textStart))) return null;

  // A copy, which a Buffer's `slice` is not.
  const stream = new Uint8Array(box.subarray(textStart - TAG_KEY_BYTES));
  for (let at = 0; at < stream.length; at += PIECE_BYTES) {
    if (at > 0) yield;
    const piece = stream.subarray(at, at + PIECE_BYTES);
    piece.set(xsalsa20(key, nonce, piece, undefined, at / BLOCK_BYTES));
  }
  return stream.subarray(TAG_KEY_BYTES);
}

/** A short text in a box with a nonce of its own. */
export function sealBox(key: Uint8Array, text: Uint8Array, nonce = randomBytes(NONCE_BYTES)): Uint8Array {
  const sealed = xsalsa20poly1305(key, nonce).encrypt(text);
  const box = new Uint8Array(NONCE_BYTES + sealed.length);
  box.set(nonce);
  box.set(sealed, NONCE_BYTES);
  return box;
}
