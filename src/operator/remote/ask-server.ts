import { isObject } from "../../lib/is-object.ts";
import { fail, ok, type Result } from "../../lib/result.ts";
import { DEFAULT_RETENTION, FixedRetention, type Retention } from "../../model/time/retention.ts";

/*
 * How commands send requests to a running server. Errors are sentences.
 */

/** `fetch`, or a substitute for it. */
export type Ask = (url: string, init: RequestInit) => Promise<Response>;

/** A running server, and the credentials for it. */
export interface RemoteServer {
  /** Without a trailing slash. */
  readonly url: string;
  readonly key: string | PageSession;
}

/** A session of the map page, which may only read; it replaces a key. */
export interface PageSession {
  readonly cookieName: string;
  readonly text: string;
}

type RequestOptions = Pick<RequestInit, "method" | "body" | "signal"> & {
  readonly headers?: Readonly<Record<string, string>>;
};

/** Sends a request. It does not follow a redirect, because the key or code is for this server only. */
export async function sendRequest(
  { url, key }: { readonly url: string; readonly key: RemoteServer["key"] | null },
  path: string,
  ask: Ask,
  init: RequestOptions,
): Promise<Result<Response, string>> {
  try {
    const headers = { ...accessHeaders(key), ...init.headers };
    return ok(await ask(`${url}${path}`, { ...init, headers, redirect: "error" }));
  } catch (cause) {
    return fail(noAnswer(url, cause));
  }
}

/** A complete answer with any status. */
export interface Answer {
  readonly status: number;
  readonly headers: Headers;
  /** Null if it is not JSON. */
  readonly body: unknown;
}

const TIMEOUT_MS = 30_000;

export async function fetchAnswer(
  server: Parameters<typeof sendRequest>[0],
  path: string,
  ask: Ask,
  init: RequestOptions = {},
): Promise<Result<Answer, string>> {
  const response = await sendRequest(server, path, ask, { signal: AbortSignal.timeout(TIMEOUT_MS), ...init });
  if (!response.ok) return response;
  const { status, headers } = response.value;
  return ok({ status, headers, body: await response.value.json().catch(() => null) });
}

/** The options by which a command names an endpoint's parameters: `{ start_date: "--from" }`. */
export type OptionNames = Readonly<Record<string, string>>;

/** The JSON object that a running server answers to a command. */
export async function askServer(
  server: RemoteServer,
  method: string,
  path: string,
  ask: Ask,
  options: OptionNames = {},
): Promise<Result<Readonly<Record<string, unknown>>, string>> {
  const answer = await fetchAnswer(server, path, ask, { method });
  if (!answer.ok) return answer;
  const { status, body } = answer.value;
  if (status === 200) return ok(isObject(body) ? body : {});
  return fail(refusalText(server.url, status, body, options));
}

const PAGE_ITEMS = 1000;

/** A list that a server answers in pages. */
export interface RemoteList {
  readonly path: string;
  /** Null for parameters that are left out. */
  readonly parameters: Readonly<Record<string, string | null>>;
  /** The name of the list in the answer. */
  readonly member: string;
}

/** All items of a list, page after page. */
export async function askForAll(
  server: RemoteServer,
  { path, parameters, member }: RemoteList,
  ask: Ask,
  options: OptionNames = {},
): Promise<Result<readonly unknown[], string>> {
  const items: unknown[] = [];
  for (;;) {
    const query = new URLSearchParams({ limit: String(PAGE_ITEMS), offset: String(items.length) });
    for (const [name, value] of Object.entries(parameters)) if (value !== null) query.set(name, value);
    const page = await askServer(server, "GET", `${path}?${query}`, ask, options);
    if (!page.ok) return page;
    const more = page.value[member];
    if (!Array.isArray(more))
      return fail(`${server.url} is no Wherehouse server: its answer has no ${member}.`);
    items.push(...more);
    if (more.length < PAGE_ITEMS) return ok(items);
  }
}

/** A request with these members as a JSON object. */
export function jsonRequest(method: string, members: object) {
  return { method, body: JSON.stringify(members), headers: { "content-type": "application/json" } };
}

/** How long a running server retains records. A server that doesn't say is older than this setting. */
export async function askRetention(server: RemoteServer, ask: Ask): Promise<Result<Retention, string>> {
  const ready = await askServer(server, "GET", "/ready", ask);
  if (!ready.ok) return ready;
  const { retention } = ready.value;
  if (retention === undefined) return ok(DEFAULT_RETENTION);
  const parsed = FixedRetention.parse(String(retention));
  return parsed.ok ? parsed : fail(`${server.url} has a retention that this program does not know.`);
}

/**
 * Signs in by a code. The server then reloads what another process has just changed, such as the first session secret
 * or a new key; without a code it would not yet know a session signed with that secret.
 */
export async function signInByCode(
  url: string,
  code: string,
  ask: Ask,
): Promise<Result<PageSession, string>> {
  const { headers: ofBody, ...request } = jsonRequest("POST", { code });
  const answer = await fetchAnswer({ url, key: null }, "/map/session", ask, {
    ...request,
    headers: { ...ofBody, "sec-fetch-site": "same-origin", "x-wherehouse-page": "1" },
  });
  if (!answer.ok) return answer;
  const { status, headers, body } = answer.value;
  const [, cookieName, text] = /^([^=;]+)=([^;]+)/.exec(headers.get("set-cookie") ?? "") ?? [];
  if (status !== 200 || cookieName === undefined || text === undefined)
    return fail(refusalText(url, status, body));
  return ok({ cookieName, text });
}

/** The server's reason for refusing, in terms of the command's options. */
export function refusalText(url: string, status: number, body: unknown, options: OptionNames = {}): string {
  if (!isObject(body) || typeof body.message !== "string") return `${url} answered ${status}.`;
  const reason = body.message.replace(/[a-z]+(_[a-z]+)*/g, (word) =>
    Object.hasOwn(options, word) ? options[word]! : word,
  );
  return `${url} answered ${status}: ${reason}.`;
}

/** Why a server could not be reached, as a sentence that says what to check. */
export function noAnswer(url: string, cause: unknown): string {
  const code = cause instanceof Error && "code" in cause ? String(cause.code) : null;
  switch (code) {
    case "UnexpectedRedirect":
      return `${url} redirects, and a key must not follow: give the address that it redirects to.`;
    case "EPROTO":
      return `${url} answers without TLS: did you mean http://?`;
    default:
      return `No server answers at ${url}${code === null ? "" : ` (${code})`}; is it running there?`;
  }
}

/** Seconds after which the server wants the request again; null if it does not say so in seconds. */
export function retryAfterSeconds(headers: Headers): number | null {
  const seconds = headers.get("retry-after") ?? "";
  return /^\d{1,6}$/.test(seconds) ? Number(seconds) : null;
}

function accessHeaders(key: RemoteServer["key"] | null): Record<string, string> {
  if (key === null) return {};
  if (typeof key === "string") return { authorization: `Bearer ${key}` };
  return { cookie: `${key.cookieName}=${key.text}`, "x-wherehouse-page": "1" };
}
