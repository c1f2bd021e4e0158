import { randomBytes } from "node:crypto";
import { fail, ok, type Result } from "../lib/result.ts";
import type { Signer } from "./signer.ts";

/*
 *   c1.k_0Hq3aZ9k.1795195200000.<16 characters>.<43 characters>
 *   |  |          |             |               |
 *   |  |          |             |               HMAC-SHA-256 of all before it, base64url
 *   |  |          |             12 random bytes, base64url
 *   |  |          when it was made, Unix ms
 *   |  the key that it signs in as
 *   the format
 *
 * It is good once, for ten minutes. Whoever has the secret makes one, in whatever process.
 */
const SHAPE = /^(c1\.(k_[0-9A-Za-z]{8})\.(\d{1,15})\.([\w-]{16}))\.([\w-]{43})$/;
const NONCE_BYTES = 12;

export const LINK_CODE_MINUTES = 10;
export const LINK_CODE_MS = LINK_CODE_MINUTES * 60_000;

/** What a code says: whom it signs in, and which one it is. */
export interface LinkCode {
  readonly keyId: string;
  readonly madeMs: number;
  readonly nonce: string;
}

export function createLinkCode(keyId: string, madeMs: number, signer: Signer): string {
  const signed = `c1.${keyId}.${madeMs}.${randomBytes(NONCE_BYTES).toString("base64url")}`;
  return `${signed}.${signer.sign("code", signed)}`;
}

/** Whether it looks like one, whoever signed it. */
export function isLinkCode(text: string): boolean {
  return SHAPE.test(text);
}

export function parseLinkCode(text: string, signer: Signer): Result<LinkCode, "unknown"> {
  const [, signed, keyId, madeMs, nonce, signature] = SHAPE.exec(text) ?? [];
  if (signed === undefined || keyId === undefined || nonce === undefined) return fail("unknown");
  if (!signer.hasSigned("code", signed, signature!)) return fail("unknown");
  return ok({ keyId, madeMs: Number(madeMs), nonce });
}
