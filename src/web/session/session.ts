import type { Api } from "../api/api.ts";
import { ApiError, sentenceOf } from "../api/api-error.ts";
import type { Retries } from "../api/retries.ts";

/** The server's description of the session. */
export interface SessionFacts {
  readonly app_id: string;
  readonly key_id: string;
  readonly permissions: readonly ("read" | "write" | "edit" | "manage" | "erase" | "operate" | "view")[];
  /** What a share link shows; null for other keys. */
  readonly view: ViewFacts | null;
  /** When the key expires, Unix ms. */
  readonly expires: number | null;
  /** When the cookie expires, Unix ms. */
  readonly signed_in_until: number;
}

export interface ViewFacts {
  readonly device_ids: readonly string[];
  /** Unix ms. */
  readonly not_before: number;
  readonly precision_meters: number | null;
}

/** A key, the code of a link that signs in once, or the key of a share link. */
export type Credential = { readonly key: string } | { readonly code: string } | { readonly share: string };

/** The page waits before it requests the session again. */
export interface Waiting {
  readonly error: ApiError;
  /** Unix ms. */
  readonly retryAtMs: number;
}

export interface SessionParts {
  readonly api: SessionApi;
  readonly retries: Retries;
  readonly changed: () => void;
}

type SessionApi = Pick<Api, "get" | "send" | "onSignedOut">;

const PATH = "/map/session";

/**
 * The user's session. The key is sent once and not stored: the session is a cookie that scripts can't read. Only an
 * answer of our server ends it; after other failures the page tries again.
 */
export class Session {
  readonly #parts: SessionParts;
  #facts: SessionFacts | null = null;
  #fault: string | null = null;
  #refusal: ApiError | null = null;
  #waiting: Waiting | null = null;
  #request = new AbortController();
  #state: "unknown" | "out" | "in" = "unknown";

  constructor(parts: SessionParts) {
    this.#parts = parts;
    parts.api.onSignedOut = (reason) => {
      if (this.#state !== "in") return; // A failed sign-in reports its own reason.
      const why = SIGNED_OUT_REASONS[reason.errorName ?? ""] ?? "the session has ended";
      this.#end(`You are signed out: ${why}.`, reason);
    };
  }

  /** Null while no user is signed in. */
  get facts(): SessionFacts | null {
    return this.#facts;
  }

  /** `unknown` until the server has answered. */
  get state(): "unknown" | "out" | "in" {
    return this.#state;
  }

  /** Why the sign-in failed or the session ended; null if nothing went wrong. */
  get fault(): string | null {
    return this.#fault;
  }

  /** The server's answer behind `fault`; null if there is none. */
  get refusal(): ApiError | null {
    return this.#refusal;
  }

  /** Null unless the page waits for its next attempt. */
  get waiting(): Waiting | null {
    return this.#waiting;
  }

  may(permission: SessionFacts["permissions"][number]): boolean {
    return this.#facts?.permissions.includes(permission) ?? false;
  }

  /** Continues the cookie's session, or signs in with a link's credential. Resolves once the server has answered. */
  begin(credential: Credential | null): Promise<void> {
    return credential === null ? this.#enterBy(() => this.#find()) : this.signIn(credential);
  }

  signIn(credential: Credential): Promise<void> {
    let tries = 0;
    return this.#enterBy(async () => {
      tries++;
      try {
        return checked(await this.#parts.api.send<unknown>("POST", PATH, credential));
      } catch (error) {
        // The first attempt may have used up the code and signed in, if only its answer was lost.
        const mayBeIn = tries > 1 && "code" in credential && error instanceof ApiError && error.isRefusal;
        const facts = mayBeIn ? await this.#find() : null;
        if (facts === null) throw error;
        return facts;
      }
    });
  }

  /** Clears the page even if the server can't be reached to delete the cookie. */
  async signOut(): Promise<void> {
    try {
      await this.#parts.api.send("DELETE", PATH);
      this.#end(null);
    } catch (error) {
      this.#end(`${sentenceOf(error)} This browser is still signed in: reload the page and sign out again.`);
    }
  }

  /** Repeats a request until our server has answered, then enters or ends the session. */
  async #enterBy(ask: () => Promise<SessionFacts | null>): Promise<void> {
    const { retries, changed } = this.#parts;
    this.#request.abort();
    this.#request = new AbortController();
    const { signal } = this.#request;
    const onPause = (error: ApiError, retryAtMs: number) => {
      this.#waiting = { error, retryAtMs };
      changed();
    };
    try {
      const facts = await retries.ask(ask, { signal, onPause });
      if (signal.aborted) return;
      if (facts === null) this.#end(null);
      else this.#enter(facts);
    } catch (error) {
      if (signal.aborted) return;
      this.#end(sentenceOf(error), error instanceof ApiError ? error : null);
    }
  }

  async #find(): Promise<SessionFacts | null> {
    const { session } = await this.#parts.api.get<{ readonly session?: unknown }>(PATH);
    return session === null ? null : checked(session);
  }

  #enter(facts: SessionFacts): void {
    this.#facts = facts;
    this.#state = "in";
    this.#show(null, null);
  }

  #end(fault: string | null, refusal: ApiError | null = null): void {
    this.#facts = null;
    this.#state = "out";
    this.#show(fault, refusal);
  }

  #show(fault: string | null, refusal: ApiError | null): void {
    this.#fault = fault;
    this.#refusal = refusal;
    this.#waiting = null;
    this.#parts.changed();
  }
}

/** By the server's error code. */
const SIGNED_OUT_REASONS: Readonly<Record<string, string>> = {
  REVOKED_API_KEY: "the key was revoked",
  EXPIRED_API_KEY: "the key has expired",
};

/** Checks that our server answered: a network with its own sign-in page may answer anything with 200. */
function checked(session: unknown): SessionFacts {
  const isOurs =
    typeof session === "object" &&
    session !== null &&
    "permissions" in session &&
    Array.isArray(session.permissions);
  if (!isOurs) throw new ApiError(0, "The server can't be reached.");
  return session as unknown as SessionFacts;
}
