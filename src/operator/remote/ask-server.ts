import { isObject } from "../../lib/is-object.ts";
import { fail, ok, type Result } from "../../lib/result.ts";
import { DEFAULT_RETENTION, FixedRetention, type Retention } from "../../model/time/retention.ts";

/*
 * How commands ask a running server over HTTP. Errors are sentences.
 */

/** `fetch`, or what stands for it. */
export type Ask = (url: string, init: RequestInit) => Promise<Response>;

/** A running server, and what lets us in. */
export interface AskedServer {
  /** Without a slash at the end. */
  readonly url: string;
  readonly key: string | PageSession;
}

/** In place of a key: the map page's way in, for questions alone. */
export interface PageSession {
  readonly cookieName: string;
  readonly text: string;
}

type RequestOptions = Pick<RequestInit, "method" | "body" | "signal"> & {
  readonly headers?: Readonly<Record<string, string>>;
};

/** Sends a request, and does not follow a redirect: the key or code is for this server. */
export async function sendRequest(
  { url, key }: { readonly url: string; readonly key: AskedServer["key"] | null },
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

/** A whole answer, whatever its status. */
export interface Answer {
  readonly status: number;
  readonly headers: Headers;
  /** Null if it is no JSON. */
  readonly body: unknown;
}

const TIMEOUT_MS = 30_000;

export async function fetchAnswer(
  server: Parameters<typeof sendRequest>[0],
  path: string,
  ask: Ask,
  init: RequestOptions = {},
): Promise<Result<Answer, string>> {
  const sent = await sendRequest(server, path, ask, { signal: AbortSignal.timeout(TIMEOUT_MS), ...init });
  if (!sent.ok) return sent;
  const { status, headers } = sent.value;
  return ok({ status, headers, body: await sent.value.json().catch(() => null) });
}

/** The options by which a command gives an endpoint's parameters: `{ start_date: "--from" }`. */
export type OptionNames = Readonly<Record<string, string>>;

/** The members of what a running server answers to a command. */
export async function askServer(
  server: AskedServer,
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

/** How far back a running server keeps records. One that doesn't say is older than the setting. */
export async function askRetention(server: AskedServer, ask: Ask): Promise<Result<Retention, string>> {
  const ready = await askServer(server, "GET", "/ready", ask);
  if (!ready.ok) return ready;
  const { retention } = ready.value;
  if (retention === undefined) return ok(DEFAULT_RETENTION);
  const parsed = FixedRetention.parse(String(retention));
  return parsed.ok ? parsed : fail(`${server.url} has a retention that this program does not know.`);
}

/**
 * Signs in by a code. For a code the server looks again for what another process made a moment ago, such as the first
 * session's secret or a new key; a session that was signed with that secret would be refused.
 */
export async function signInByCode(
  url: string,
  code: string,
  ask: Ask,
): Promise<Result<PageSession, string>> {
  const answer = await fetchAnswer({ url, key: null }, "/map/session", ask, {
    method: "POST",
    headers: {
      "content-type": "application/json",
      "sec-fetch-site": "same-origin",
      "x-wherehouse-page": "1",
    },
    body: JSON.stringify({ code }),
  });
  if (!answer.ok) return answer;
  const { status, headers, body } = answer.value;
  const [, cookieName, text] = /^([^=;]+)=([^;]+)/.exec(headers.get("set-cookie") ?? "") ?? [];
  if (status !== 200 || cookieName === undefined || text === undefined)
    return fail(refusalText(url, status, body));
  return ok({ cookieName, text });
}

/** What a server that refused has said, in the words of the command's options. */
export function refusalText(url: string, status: number, body: unknown, options: OptionNames = {}): string {
  if (!isObject(body) || typeof body.message !== "string") return `${url} answered ${status}.`;
  const reason = body.message.replace(/[a-z]+(_[a-z]+)*/g, (word) =>
    Object.hasOwn(options, word) ? options[word]! : word,
  );
  return `${url} answered ${status}: ${reason}.`;
}

/** Why a server that was asked over HTTP gave no answer, as a sentence that says what to look at. */
export function noAnswer(url: string, cause: unknown): string {
  const code = cause instanceof Error && "code" in cause ? String(cause.code) : null;
  switch (code) {
    case "UnexpectedRedirect":
      return `${url} redirects, and a key must not follow: give the address that it redirects to.`;
    case "EPROTO":
      return `${url} answers without TLS: did you mean http://?`;
    default:
      return `Nobody answers at ${url}${code === null ? "" : ` (${code})`}; is the server running there?`;
  }
}

/** The seconds after which a server wants to be asked again; null if it does not say so in seconds. */
export function retryAfterSeconds(headers: Headers): number | null {
  const seconds = headers.get("retry-after") ?? "";
  return /^\d{1,6}$/.test(seconds) ? Number(seconds) : null;
}

function accessHeaders(key: AskedServer["key"] | null): Record<string, string> {
  if (key === null) return {};
  if (typeof key === "string") return { authorization: `Bearer ${key}` };
  return { cookie: `${key.cookieName}=${key.text}`, "x-wherehouse-page": "1" };
}
