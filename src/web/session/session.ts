import type { Api } from "../api/api.ts";
import { sentenceOf } from "../api/api-error.ts";

/** What the server says of whoever is signed in. */
export interface SessionFacts {
  readonly app_id: string;
  readonly key_id: string;
  readonly permissions: readonly ("read" | "write" | "operate" | "view")[];
  /** What a share link shows; null where everything is shown. */
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

/** What signs in: a key, the code of a link that signs in once, or the key of a share link. */
export type Credential = { readonly key: string } | { readonly code: string } | { readonly share: string };

type SessionApi = Pick<Api, "get" | "send" | "onSignedOut">;

const PATH = "/map/session";

/** Who is signed in. The key itself is sent once and kept nowhere: what stays is a cookie that no script sees. */
export class Session {
  readonly #api: SessionApi;
  readonly #changed: () => void;
  #facts: SessionFacts | null = null;
  #fault: string | null = null;
  #state: "unknown" | "out" | "in" = "unknown";

  constructor(api: SessionApi, changed: () => void) {
    this.#api = api;
    this.#changed = changed;
    api.onSignedOut = () => this.#end("You are signed out: the key was revoked, or the session has expired.");
  }

  /** Null while nobody is signed in. */
  get facts(): SessionFacts | null {
    return this.#facts;
  }

  /** `unknown` until the server has said. */
  get state(): "unknown" | "out" | "in" {
    return this.#state;
  }

  /** Why the last try to sign in failed, or a session ended. */
  get fault(): string | null {
    return this.#fault;
  }

  may(permission: SessionFacts["permissions"][number]): boolean {
    return this.#facts?.permissions.includes(permission) ?? false;
  }

  /** Goes on with the session of the cookie, or signs in by what stands behind the `#` of a link. */
  async begin(credential: Credential | null): Promise<void> {
    if (credential !== null) return this.signIn(credential);
    try {
      const { session } = await this.#api.get<{ readonly session: SessionFacts | null }>(PATH);
      if (session === null) this.#end(null);
      else this.#enter(session);
    } catch (error) {
      this.#end(sentenceOf(error));
    }
  }

  async signIn(credential: Credential): Promise<void> {
    try {
      this.#enter(await this.#api.send<SessionFacts>("POST", PATH, credential));
    } catch (error) {
      this.#end(sentenceOf(error));
    }
  }

  /** Nothing is shown any more, also where the server can't be asked to take the cookie back. */
  async signOut(): Promise<void> {
    try {
      await this.#api.send("DELETE", PATH);
      this.#end(null);
    } catch (error) {
      this.#end(
        `${sentenceOf(error)} This browser is still signed in: load the page again, and sign out then.`,
      );
    }
  }

  #enter(facts: SessionFacts): void {
    this.#facts = facts;
    this.#state = "in";
    this.#fault = null;
    this.#changed();
  }

  #end(fault: string | null): void {
    this.#facts = null;
    this.#state = "out";
    this.#fault = fault;
    this.#changed();
  }
}
