import { isObject } from "../lib/is-object.ts";
import { fail, ok, type Result } from "../lib/result.ts";
import { noAnswer } from "./no-answer.ts";

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

const TIMEOUT_MS = 30_000;

/**
 * Signs in by a code. For one the server looks again for what another process made a moment ago, such as the first
 * session's secret or a new key; to a session that was signed with it, it would answer that nobody is signed in.
 */
export async function signInByCode(
  url: string,
  code: string,
  ask: Ask,
): Promise<Result<PageSession, string>> {
  let response: Response;
  let body: unknown;
  try {
    response = await ask(`${url}/map/session`, {
      method: "POST",
      headers: {
        "content-type": "application/json",
        "sec-fetch-site": "same-origin",
        "x-wherehouse-page": "1",
      },
      body: JSON.stringify({ code }),
      redirect: "error", // The code is for this server.
      signal: AbortSignal.timeout(TIMEOUT_MS),
    });
    body = await response.json().catch(() => null);
  } catch (cause) {
    return fail(noAnswer(url, cause));
  }
  const [, cookieName, text] = /^([^=;]+)=([^;]+)/.exec(response.headers.get("set-cookie") ?? "") ?? [];
  if (response.status !== 200 || cookieName === undefined || text === undefined)
    return fail(refusalText(url, response.status, body));
  return ok({ cookieName, text });
}

/** The options by which a command gives an endpoint's parameters: `{ start_date: "--from" }`. */
export type OptionNames = Readonly<Record<string, string>>;

/** The members of what a running server answers to a command; the error is a sentence. */
export async function askServer(
  { url, key }: AskedServer,
  method: string,
  path: string,
  ask: Ask,
  options: OptionNames = {},
): Promise<Result<Readonly<Record<string, unknown>>, string>> {
  let response: Response;
  let body: unknown;
  try {
    response = await ask(`${url}${path}`, {
      method,
      headers: accessHeaders(key),
      redirect: "error", // The key is for this server.
      signal: AbortSignal.timeout(TIMEOUT_MS),
    });
    body = await response.json().catch(() => null);
  } catch (cause) {
    return fail(noAnswer(url, cause));
  }
  if (response.status === 200) return ok(isObject(body) ? body : {});
  return fail(refusalText(url, response.status, body, options));
}

/** What a server that refused has said, in the words of the command's options. */
export function refusalText(url: string, status: number, body: unknown, options: OptionNames = {}): string {
  if (!isObject(body) || typeof body.message !== "string") return `${url} answered ${status}.`;
  const reason = body.message.replace(/[a-z]+(_[a-z]+)*/g, (word) =>
    Object.hasOwn(options, word) ? options[word]! : word,
  );
  return `${url} answered ${status}: ${reason}.`;
}

function accessHeaders(key: AskedServer["key"]): Record<string, string> {
  if (typeof key === "string") return { authorization: `Bearer ${key}` };
  return { cookie: `${key.cookieName}=${key.text}`, "x-wherehouse-page": "1" };
}
