import { ApiError } from "./api-error.ts";
import { Retries } from "./retries.ts";

/** What makes the session's cookie count: no other origin's page can send it. */
const PAGE_HEADER = "x-wherehouse-page";

/** The map, or what a share link leads to: each has a session of its own. */
export type PageKind = "map" | "share";

const HEADER_VALUES: Readonly<Record<PageKind, string>> = { map: "1", share: "share" };

/** If no answer has begun by then, the connection counts as lost: a browser on a phone does not notice a dead spot. */
const ANSWER_MS_MAX = 40_000;

export type Query = Readonly<Record<string, string | number | boolean | null | undefined>>;

/** Asks the server on behalf of whoever is signed in. Everything throws an `ApiError` where there is no good answer. */
export class Api {
  readonly #pageHeader: Readonly<Record<string, string>>;
  /** Holds the requests that wait for their next try. */
  readonly retries = new Retries();
  /** Called when our server says that the session has ended, with its reason. */
  onSignedOut: (reason: ApiError) => void = () => undefined;

  constructor(page: PageKind = "map") {
    this.#pageHeader = { [PAGE_HEADER]: HEADER_VALUES[page] };
  }

  /** The body of a GET, as JSON. Members of the query that are null or undefined are left out. */
  async get<Body>(path: string, query: Query = {}, signal?: AbortSignal): Promise<Body> {
    const response = await this.fetch(pathWith(path, query), signal === undefined ? {} : { signal });
    return bodyOf(response);
  }

  async send<Body>(method: "POST" | "DELETE", path: string, body?: unknown): Promise<Body> {
    const sent = body === undefined ? {} : { body: JSON.stringify(body) };
    const headers = { "content-type": "application/json" };
    const response = await this.fetch(path, { method, headers, ...sent });
    return bodyOf(response);
  }

  /** The response, where its status is good. */
  async fetch(path: string, init: RequestInit = {}): Promise<Response> {
    const headers = {
      ...this.#pageHeader,
      ...(init.headers as Readonly<Record<string, string>> | undefined),
    };
    const waiting = new AbortController();
    const watchdog = setTimeout(() => waiting.abort(), ANSWER_MS_MAX);
    const signal = init.signal ? AbortSignal.any([init.signal, waiting.signal]) : waiting.signal;
    let response: Response;
    try {
      response = await fetch(path, { ...init, headers, signal, credentials: "same-origin" });
    } catch (error) {
      if (isGivenUp(error) && !waiting.signal.aborted) throw error;
      throw new ApiError(0, "The server can't be reached.");
    } finally {
      clearTimeout(watchdog);
    }
    if (response.ok) return response;
    const failure = await failureOf(response);
    if (failure.isRefusal && failure.status === 401) this.onSignedOut(failure);
    throw failure;
  }
}

export function pathWith(path: string, query: Query): string {
  const parameters = new URLSearchParams();
  for (const [name, value] of Object.entries(query))
    if (value !== null && value !== undefined) parameters.set(name, String(value));
  const text = parameters.toString();
  return text === "" ? path : `${path}?${text}`;
}

async function bodyOf<Body>(response: Response): Promise<Body> {
  try {
    return (await response.json()) as Body;
  } catch (error) {
    if (isGivenUp(error)) throw error;
    throw new ApiError(0, "The server's answer was cut off.");
  }
}

/** Whether a request failed because its signal was aborted. */
export function isGivenUp(error: unknown): boolean {
  return error instanceof DOMException && error.name === "AbortError";
}

/** Reads a failure. Only our server sends `success: false` and a message; the words of others are not shown. */
async function failureOf(response: Response): Promise<ApiError> {
  const { status, headers } = response;
  const retryAfter = Number(headers.get("retry-after") ?? Number.NaN);
  const retryAfterSeconds = Number.isNaN(retryAfter) ? null : retryAfter;
  const { success, message, error } = await membersOf(response);
  if (success !== false || typeof message !== "string")
    return new ApiError(status, `The server answered ${status}.`, { retryAfterSeconds });
  const name = typeof error === "string" ? error : null;
  return new ApiError(status, message, { retryAfterSeconds, isOurs: true, name });
}

async function membersOf(response: Response): Promise<Readonly<Record<string, unknown>>> {
  try {
    const body: unknown = await response.json();
    return typeof body === "object" && body !== null ? { ...body } : {};
  } catch {
    return {}; // Not JSON, or cut off: not an answer of ours.
  }
}
