import { randomBytes } from "node:crypto";
import { fail, ok, type Result } from "../lib/result.ts";
import type { Clock } from "../model/time/clock.ts";
import type { KeyRecord } from "./key-file.ts";
import type { KeyStore } from "./key-store.ts";
import type { Signer } from "./session-secret.ts";

/*
 *   c1.k_0Hq3aZ9k.1795195200000.<16 characters>.<43 characters>
 *   |  |          |             |               |
 *   |  |          |             |               HMAC-SHA-256 of all before it, base64url
 *   |  |          |             12 random bytes, base64url
 *   |  |          when it was made, Unix ms
 *   |  the key that it signs in as
 *   the format
 *
 * A link with a code signs in once, within ten minutes. Any process that has the secret can create a code.
 */
const SHAPE = /^(c1\.(k_[0-9A-Za-z]{8})\.(\d{1,15})\.([\w-]{16}))\.([\w-]{43})$/;
const NONCE_BYTES = 12;

export const LINK_CODE_MINUTES = 10;
export const LINK_CODE_MS = LINK_CODE_MINUTES * 60_000;

/** The content of a code: the key that it signs in as, and the nonce that tells it from other codes. */
export interface LinkCode {
  readonly keyId: string;
  readonly madeMs: number;
  readonly nonce: string;
}

export function createLinkCode(keyId: string, madeMs: number, signer: Signer): string {
  const signed = `c1.${keyId}.${madeMs}.${randomBytes(NONCE_BYTES).toString("base64url")}`;
  return `${signed}.${signer.sign("code", signed)}`;
}

/** Whether the text has a code's shape. Does not check the signature. */
export function isLinkCode(text: string): boolean {
  return SHAPE.test(text);
}

export function parseLinkCode(text: string, signer: Signer): Result<LinkCode, "unknown"> {
  const [, signed, keyId, madeMs, nonce, signature] = SHAPE.exec(text) ?? [];
  if (signed === undefined || keyId === undefined || nonce === undefined) return fail("unknown");
  if (!signer.hasSigned("code", signed, signature!)) return fail("unknown");
  return ok({ keyId, madeMs: Number(madeMs), nonce });
}

/** Only a process that has the secret creates codes, and never this many in ten minutes. */
const USED_MAX = 10_000;

export type CodeUseRefusal =
  | "used"
  | "old"
  /** The cluster can't tell now whether the code was used. */
  | "unreachable";

/** Ensures that each code is used once. */
export interface CodeUses {
  /** Marks the code as used, if it is still valid. */
  use(code: LinkCode): Promise<Result<void, CodeUseRefusal>>;
}

/**
 * Ensures that each code is used once, in a process without a cluster. The used codes are in memory, so it refuses
 * codes created before it started: they may have been used then.
 */
export class UsedCodes implements CodeUses {
  readonly #clock: Clock;
  readonly #startedMs: number;
  /** The oldest use first. */
  readonly #nonces = new Set<string>();

  constructor(clock: Clock) {
    this.#clock = clock;
    this.#startedMs = clock.nowMs();
  }

  async use({ madeMs, nonce }: LinkCode): Promise<Result<void, "used" | "old">> {
    const nowMs = this.#clock.nowMs();
    const isGood = madeMs >= this.#startedMs && madeMs <= nowMs && nowMs < madeMs + LINK_CODE_MS;
    if (this.#nonces.has(nonce)) return fail("used");
    if (!isGood) return fail("old");
    this.#nonces.add(nonce);
    if (this.#nonces.size > USED_MAX) this.#nonces.delete(this.#nonces.keys().next().value!);
    return ok(undefined);
  }
}

/** Whether the map page shows anything to a session of this key. */
export function showsSomething({ permissions }: KeyRecord): boolean {
  return permissions.includes("read") || permissions.includes("view");
}

/** The key that a link signs in as by default: the first that may read and is not bound to a device or user. */
export function keyForLink(keys: Pick<KeyStore, "list" | "findById">): KeyRecord | null {
  return keysForLinks(keys)[0] ?? null;
}

/** All keys that may read and are not bound to a device or user. */
export function keysForLinks(keys: Pick<KeyStore, "list" | "findById">): readonly KeyRecord[] {
  return keys.list().filter((key) => {
    const isUnbound = key.deviceId === null && key.userId === null;
    return key.permissions.includes("read") && isUnbound && keys.findById(key.id).kind === "known";
  });
}
