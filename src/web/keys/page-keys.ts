import { type Api, isGivenUp, itemPath } from "../api/api.ts";
import { retryingSentenceOf, sentenceOf } from "../api/api-error.ts";
import type { ViewFacts } from "../session/session.ts";

/** A key that was created on the page, as the server lists it. Times are Unix ms. */
export interface PageKey {
  readonly id: string;
  readonly kind: "phone" | "share";
  readonly label: string;
  /** The device that a phone's key reports as. */
  readonly device_id: string | null;
  /** What a share link shows. */
  readonly view: ViewFacts | null;
  readonly created: number;
  readonly expires: number | null;
  readonly revoked: number | null;
}

interface PageKeysParts {
  readonly api: Pick<Api, "get" | "send" | "retries">;
  readonly changed: () => void;
}

const PATH = "/map/keys";

/** The keys that the user created on the page: for phones, and as share links. */
export class PageKeys {
  readonly #parts: PageKeysParts;
  #keys: readonly PageKey[] | null = null;
  #loading = new AbortController();
  /** Why the list may be missing or stale. */
  fault: string | null = null;

  constructor(parts: PageKeysParts) {
    this.#parts = parts;
  }

  /** The usable keys of a kind, newest first; null until they are loaded. */
  ofKind(kind: PageKey["kind"], nowMs: number): readonly PageKey[] | null {
    if (this.#keys === null) return null;
    const keys = this.#keys.filter((key) => key.kind === kind && isUsable(key, nowMs));
    return keys.sort((a, b) => b.created - a.created);
  }

  forget(): void {
    this.#loading.abort();
    this.#keys = null;
    this.fault = null;
  }

  load(): Promise<void> {
    const { api, changed } = this.#parts;
    this.#loading.abort();
    this.#loading = new AbortController();
    const { signal } = this.#loading;
    return this.#try(async () => {
      const ask = () => api.get<{ readonly keys: readonly PageKey[] }>(PATH, {}, signal);
      const { keys } = await api.retries.ask(ask, {
        signal,
        onPause: (error) => {
          this.fault = retryingSentenceOf(error);
          changed();
        },
      });
      this.#keys = keys;
    });
  }

  /** Creates a key; throws the server's refusal. The answer has the only copy of the key's text. */
  async make<Answer extends { readonly key: PageKey; readonly text: string }>(
    spec: unknown,
  ): Promise<Answer> {
    const answer = await this.#parts.api.send<Answer>("POST", PATH, spec);
    this.#keys = [...(this.#keys ?? []), answer.key];
    return answer;
  }

  revoke(id: string): Promise<void> {
    return this.#try(async () => {
      await this.#parts.api.send("DELETE", itemPath(PATH, id));
      this.#keys = (this.#keys ?? []).filter((key) => key.id !== id);
    });
  }

  async #try(act: () => Promise<void>): Promise<void> {
    try {
      await act();
      this.fault = null;
    } catch (error) {
      if (isGivenUp(error)) return;
      this.fault = sentenceOf(error);
    }
    this.#parts.changed();
  }
}

function isUsable({ revoked, expires }: PageKey, nowMs: number): boolean {
  return revoked === null && (expires === null || expires > nowMs);
}
