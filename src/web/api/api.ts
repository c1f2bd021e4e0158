import { ApiError } from "./api-error.ts";

/** What makes the session's cookie count: no other origin's page can send it. */
const PAGE_HEADER = "x-wherehouse-page";

/** The map, or what a share link leads to: each has a session of its own. */
export type PageKind = "map" | "share";

const HEADER_VALUES: Readonly<Record<PageKind, string>> = { map: "1", share: "share" };

export type Query = Readonly<Record<string, string | number | boolean | null | undefined>>;

/** Asks the server on behalf of whoever is signed in. Everything throws an `ApiError` where there is no good answer. */
export class Api {
  readonly #pageHeader: Readonly<Record<string, string>>;
  /** Called when the session has ended: its key was revoked or has expired, or somebody signed out elsewhere. */
  onSignedOut: () => void = () => undefined;

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
    let response: Response;
    try {
      response = await fetch(path, { ...init, headers, credentials: "same-origin" });
    } catch (error) {
      if (isGivenUp(error)) throw error;
      throw new ApiError(0, "The server can't be reached.");
    }
    if (response.ok) return response;
    if (response.status === 401) this.onSignedOut();
    const retryAfter = Number(response.headers.get("retry-after") ?? Number.NaN);
    const retryAfterSeconds = Number.isNaN(retryAfter) ? null : retryAfter;
    throw new ApiError(response.status, await messageOf(response), retryAfterSeconds);
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

function isGivenUp(error: unknown): boolean {
  return error instanceof DOMException && error.name === "AbortError";
}

/** What a failure says, or a sentence where it says nothing that we can read. */
async function messageOf(response: Response): Promise<string> {
  try {
    const { message } = (await response.json()) as { readonly message?: unknown };
    if (typeof message === "string") return message;
  } catch {
    // A proxy's page, for all we know; its status says enough.
  }
  return `The server answered ${response.status}.`;
}
