import { fail, ok, type Result } from "../lib/result.ts";
import type { Signer } from "./signer.ts";

/*
 *   v1.k_0Hq3aZ9k.1795238400000.<43 characters>
 *   |  |          |             |
 *   |  |          |             HMAC-SHA-256 of all before it, base64url
 *   |  |          when it ends, Unix ms
 *   |  the key that it asks as
 *   the format
 *
 * Nothing is kept of it here: it is good for whoever holds it until it ends, or its key does.
 */
const SHAPE = /^(v1\.(k_[0-9A-Za-z]{8})\.(\d{1,15}))\.([\w-]{43})$/;

export const SESSION_MS = 12 * 3_600_000;

/** Who is signed in on a page, and until when. */
export interface Session {
  readonly keyId: string;
  readonly untilMs: number;
}

export function encodeSession({ keyId, untilMs }: Session, signer: Signer): string {
  const signed = `v1.${keyId}.${untilMs}`;
  return `${signed}.${signer.sign("session", signed)}`;
}

/** What a session's text says; only who holds one that was good is told that it has expired. */
export function parseSession(
  text: string,
  signer: Signer,
  nowMs: number,
): Result<Session, "unknown" | "expired"> {
  const [, signed, keyId, until, signature] = SHAPE.exec(text) ?? [];
  if (signed === undefined || keyId === undefined || signature === undefined) return fail("unknown");
  if (!signer.hasSigned("session", signed, signature)) return fail("unknown");
  const session = { keyId, untilMs: Number(until) };
  return session.untilMs > nowMs ? ok(session) : fail("expired");
}
