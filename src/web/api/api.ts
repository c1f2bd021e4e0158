import { ApiError } from "./api-error.ts";
import { Retries } from "./retries.ts";

/** The server accepts the session's cookie only with this header, which pages of other origins can't send. */
const PAGE_HEADER = "x-wherehouse-page";

/** The map, or the page of a share link. Each has its own session. */
export type PageKind = "map" | "share";

const HEADER_VALUES: Readonly<Record<PageKind, string>> = { map: "1", share: "share" };

/** A request fails if no answer has begun by then: the browser of a phone does not notice a lost network. */
const ANSWER_MS_MAX = 40_000;

/** How a request is sent, for callers that don't use the browser's `fetch`. */
export interface Sending {
  readonly send?: (path: string, init: RequestInit) => Promise<Response>;
  readonly answerMsMax?: number;
}

type Headers = Readonly<Record<string, string>>;

export type Query = Readonly<Record<string, string | number | boolean | null | undefined>>;

/** Sends requests in the user's session. All methods throw an `ApiError` if a request fails. */
export class Api {
  /** For requests that others send, such as MapLibre. */
  readonly pageHeader: Headers;
  /** The requests that wait for their next attempt. */
  readonly retries = new Retries();
  /** Called when our server answers that the session has ended. */
  onSignedOut: (reason: ApiError) => void = () => undefined;

  constructor(page: PageKind = "map") {
    this.pageHeader = { [PAGE_HEADER]: HEADER_VALUES[page] };
  }

  /** Returns the JSON body of a GET. Members of the query that are null or undefined are omitted. */
  async get<Body>(path: string, query: Query = {}, signal?: AbortSignal): Promise<Body> {
    const response = await this.fetch(pathWith(path, query), signal === undefined ? {} : { signal });
    return bodyOf(response);
  }

  async send<Body>(
    method: "POST" | "PUT" | "DELETE",
    path: string,
    body?: unknown,
    more: Headers = {},
  ): Promise<Body> {
    const content = body === undefined ? {} : { body: JSON.stringify(body) };
    const headers = { "content-type": "application/json", ...more };
    const response = await this.fetch(path, { method, headers, ...content });
    return bodyOf(response);
  }

  /** Returns the response if its status is 2xx. */
  async fetch(path: string, init: RequestInit = {}, sending: Sending = {}): Promise<Response> {
    const { send = fetch, answerMsMax = ANSWER_MS_MAX } = sending;
    const headers = {
      ...this.pageHeader,
      ...(init.headers as Headers | undefined),
    };
    const waiting = new AbortController();
    const watchdog = setTimeout(() => waiting.abort(), answerMsMax);
    const signal = init.signal ? AbortSignal.any([init.signal, waiting.signal]) : waiting.signal;
    let response: Response;
    try {
      response = await send(path, { ...init, headers, signal, credentials: "same-origin" });
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

/** The path of one item, below the path of all of them. */
export function itemPath(path: string, id: string): string {
  return `${path}/${encodeURIComponent(id)}`;
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

/** Reads a failed response. Only our server's bodies have `success: false` and a message; others are not shown. */
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
