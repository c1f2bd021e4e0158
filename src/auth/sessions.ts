import type { SharedFileError } from "../directory/shared-file.ts";
import { fail, ok, type Result } from "../lib/result.ts";
import type { Clock } from "../model/time/clock.ts";
import type { KeyRecord } from "./key-file.ts";
import type { KeyLookup, KeyStore } from "./key-store.ts";
import { createLinkCode, isLinkCode, type LinkCode, parseLinkCode } from "./link-codes.ts";
import { encodeSession, parseSession, SESSION_MS } from "./session.ts";
import type { SessionSecret } from "./session-secret.ts";
import { type CodeUseRefusal, type CodeUses, UsedCodes } from "./used-codes.ts";

/** Who is signed in: the key that a session asks as, and until when it does. */
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

/** Why a code signs nobody in. */
export type CodeRefusal = "unknown" | CodeUseRefusal;

export interface SessionsDependencies {
  readonly secret: Pick<SessionSecret, "signer" | "obtain" | "refresh">;
  readonly keys: Pick<KeyStore, "findById" | "refresh">;
  readonly clock: Clock;
  /** Left out, this process alone sees that codes are used once. */
  readonly usedCodes?: CodeUses;
}

const UNKNOWN = { kind: "session_unknown" } as const;
const EXPIRED = { kind: "session_expired" } as const;

/** Sessions of pages: each is signed, none is kept, and none outlives its key. */
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

  /** Null where nobody can be signed in. */
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
    const found = this.#keys.findById(keyId);
    return found.kind === "known" ? { ...found, untilMs } : found;
  }

  /** A code that signs in once, as this key. */
  async createCode(keyId: string): Promise<Result<string, SharedFileError>> {
    const signer = await this.#secret.obtain();
    return signer.ok ? ok(createLinkCode(keyId, this.#clock.nowMs(), signer.value)) : signer;
  }

  /**
   * The key that a code signs in as. That uses it up, unless there is no such key. Another process may have made the
   * secret or the key a moment ago, so both are read again before a code is refused.
   */
  async useCode(text: string): Promise<Result<KeyLookup, CodeRefusal>> {
    let code = this.#read(text);
    if (!code.ok && isLinkCode(text)) {
      await this.#secret.refresh();
      code = this.#read(text);
    }
    if (!code.ok) return code;
    let found = this.#keys.findById(code.value.keyId);
    if (found.kind === "unknown") {
      await this.#keys.refresh();
      found = this.#keys.findById(code.value.keyId);
    }
    if (found.kind !== "known") return ok(found);
    const used = await this.#usedCodes.use(code.value);
    return used.ok ? ok(found) : used;
  }

  #read(text: string): Result<LinkCode, "unknown"> {
    const { signer } = this.#secret;
    return signer === null ? fail("unknown") : parseLinkCode(text, signer);
  }
}
