import type { SharedFileError } from "../directory/shared-file.ts";
import { fail, ok, type Result } from "../lib/result.ts";
import type { Clock } from "../model/time/clock.ts";
import type { KeyRecord } from "./key-file.ts";
import type { KeyLookup, KeyStore } from "./key-store.ts";
import {
  type CodeUseRefusal,
  type CodeUses,
  createLinkCode,
  isLinkCode,
  type LinkCode,
  parseLinkCode,
  UsedCodes,
} from "./link-codes.ts";
import type { SessionSecret, Signer } from "./session-secret.ts";

/** The key that a session acts as, and when the session ends. */
export interface SignedIn {
  readonly kind: "known";
  readonly key: KeyRecord;
  readonly untilMs: number;
}

export type SessionLookup =
  | SignedIn
  | Exclude<KeyLookup, { readonly kind: "known" }>
  | { readonly kind: "session_unknown" | "session_expired" };

export interface NewSession {
  readonly cookieName: string;
  readonly text: string;
  readonly untilMs: number;
}

/** Why the server refuses a code. */
export type CodeRefusal = "unknown" | CodeUseRefusal;

export interface SessionsDependencies {
  readonly secret: Pick<SessionSecret, "signer" | "obtain" | "refresh">;
  readonly keys: Pick<KeyStore, "findById" | "refresh">;
  readonly clock: Clock;
  /** Defaults to `UsedCodes`, for a process without a cluster. */
  readonly usedCodes?: CodeUses;
}

const UNKNOWN = { kind: "session_unknown" } as const;
const EXPIRED = { kind: "session_expired" } as const;

/** Sessions of the map page. A session is a signed text; the server stores none. It ends with its key at the latest. */
export class Sessions {
  readonly #secret: SessionsDependencies["secret"];
  readonly #keys: SessionsDependencies["keys"];
  readonly #clock: Clock;
  readonly #usedCodes: CodeUses;

  constructor({ secret, keys, clock, usedCodes = new UsedCodes(clock) }: SessionsDependencies) {
    this.#secret = secret;
    this.#keys = keys;
    this.#clock = clock;
    this.#usedCodes = usedCodes;
  }

  get cookieName(): string | null {
    return this.#secret.signer?.cookieName ?? null;
  }

  async begin(keyId: string): Promise<Result<NewSession, SharedFileError>> {
    const signer = await this.#secret.obtain();
    if (!signer.ok) return signer;
    const untilMs = this.#clock.nowMs() + SESSION_MS;
    const text = encodeSession({ keyId, untilMs }, signer.value);
    return ok({ cookieName: signer.value.cookieName, text, untilMs });
  }

  find(text: string): SessionLookup {
    const { signer } = this.#secret;
    if (signer === null) return UNKNOWN;
    const session = parseSession(text, signer, this.#clock.nowMs());
    if (!session.ok) return session.error === "expired" ? EXPIRED : UNKNOWN;
    const { keyId, untilMs } = session.value;
    const lookup = this.#keys.findById(keyId);
    return lookup.kind === "known" ? { ...lookup, untilMs } : lookup;
  }

  async createCode(keyId: string): Promise<Result<string, SharedFileError>> {
    const signer = await this.#secret.obtain();
    return signer.ok ? ok(createLinkCode(keyId, this.#clock.nowMs(), signer.value)) : signer;
  }

  /**
   * Looks up the key that a code signs in as and marks the code as used, unless there is no such key. Another process
   * may have created the secret or the key a moment ago, so both are read again before a code is refused.
   */
  async useCode(text: string): Promise<Result<KeyLookup, CodeRefusal>> {
    let code = this.#parse(text);
    if (!code.ok && isLinkCode(text)) {
      await this.#secret.refresh();
      code = this.#parse(text);
    }
    if (!code.ok) return code;
    let lookup = this.#keys.findById(code.value.keyId);
    if (lookup.kind === "unknown") {
      await this.#keys.refresh();
      lookup = this.#keys.findById(code.value.keyId);
    }
    if (lookup.kind !== "known") return ok(lookup);
    const use = await this.#usedCodes.use(code.value);
    return use.ok ? ok(lookup) : use;
  }

  #parse(text: string): Result<LinkCode, "unknown"> {
    const { signer } = this.#secret;
    return signer === null ? fail("unknown") : parseLinkCode(text, signer);
  }
}

/*
 *   v1.k_0Hq3aZ9k.1795238400000.<43 characters>
 *   |  |          |             |
 *   |  |          |             HMAC-SHA-256 of all before it, base64url
 *   |  |          when it ends, Unix ms
 *   |  the key that it acts as
 *   the format
 *
 * The server stores nothing of a session: its text is valid until it ends or its key does.
 */
const SHAPE = /^(v1\.(k_[0-9A-Za-z]{8})\.(\d{1,15}))\.([\w-]{43})$/;

export const SESSION_MS = 12 * 3_600_000;

export interface Session {
  readonly keyId: string;
  readonly untilMs: number;
}

export function encodeSession({ keyId, untilMs }: Session, signer: Signer): string {
  const signed = `v1.${keyId}.${untilMs}`;
  return `${signed}.${signer.sign("session", signed)}`;
}

/** Parses and verifies a session's text. The error is `expired` only if the signature is valid. */
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
