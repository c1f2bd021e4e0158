import { failureOf, WherehouseError } from "./failure.ts";

export interface ConnectionOptions {
  /** The address of the server, such as `http://127.0.0.1:3000`. */
  readonly url: string;
  readonly key: string;
  /** How requests are sent; by default the runtime's own `fetch`. */
  readonly fetch?: typeof fetch;
}

export type Values = Readonly<Record<string, unknown>>;

export interface Sent {
  readonly method?: "GET" | "POST" | "PUT" | "DELETE";
  readonly query?: Values | undefined;
  readonly body?: unknown;
  readonly headers?: Readonly<Record<string, string>>;
  readonly signal?: AbortSignal | undefined;
}

const TRIES_MAX = 5;

/** Sends requests to one server with one key. */
export class Connection {
  readonly #url: string;
  readonly #key: string;
  readonly #fetch: typeof fetch;

  constructor({ url, key, fetch: send = globalThis.fetch }: ConnectionOptions) {
    this.#url = url.replace(/\/+$/, "");
    this.#key = key;
    this.#fetch = send.bind(globalThis);
  }

  /** Sends a request once. Throws a `WherehouseError` for an answer that is an error, and what `fetch` throws. */
  async send(path: string, sent: Sent = {}): Promise<Response> {
    const { method = "GET", query, body, headers, signal } = sent;
    const answer = await this.#fetch(this.#url + path + queryText(query), {
      method,
      headers: {
        authorization: `Bearer ${this.#key}`,
        ...(body === undefined ? {} : { "content-type": "application/json" }),
        ...headers,
      },
      ...(body === undefined ? {} : { body: JSON.stringify(body) }),
      ...(signal === undefined ? {} : { signal }),
    });
    if (!answer.ok) throw await failureOf(answer);
    return answer;
  }

  /** Asks a question. If the server is too busy it waits, as long as the server says, and asks again. */
  async ask<Answer>(path: string, query: Values | undefined, signal?: AbortSignal): Promise<Answer> {
    for (let tries = 1; ; tries++) {
      try {
        return (await (await this.send(path, { query, signal })).json()) as Answer;
      } catch (error) {
        const seconds = error instanceof WherehouseError ? error.retryAfterSeconds : null;
        if (seconds === null || tries === TRIES_MAX) throw error;
        await wait(seconds * 1000, signal);
      }
    }
  }
}

/** Resolves after a time; rejects once the signal aborts. */
export function wait(ms: number, signal?: AbortSignal): Promise<void> {
  return new Promise((resolve, reject) => {
    if (signal?.aborted) return reject(signal.reason);
    const abort = () => {
      clearTimeout(timer);
      reject(signal?.reason);
    };
    const timer = setTimeout(() => {
      signal?.removeEventListener("abort", abort);
      resolve();
    }, ms);
    signal?.addEventListener("abort", abort, { once: true });
  });
}

/** Lists repeat their parameter; what is undefined is left out. */
function queryText(query: Values | undefined): string {
  const pairs = Object.entries(query ?? {}).flatMap(([name, value]) =>
    (Array.isArray(value) ? value : [value])
      .filter((each) => each !== undefined)
      .map((each) => [name, String(each)]),
  );
  return pairs.length === 0 ? "" : `?${new URLSearchParams(pairs)}`;
}
