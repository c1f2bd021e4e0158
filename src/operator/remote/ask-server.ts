import { isObject } from "../../lib/is-object.ts";
import { fail, ok, type Result } from "../../lib/result.ts";
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
  const answered = await answerOf(url, "/map/session", ask, {
    method: "POST",
    headers: {
      "content-type": "application/json",
      "sec-fetch-site": "same-origin",
      "x-wherehouse-page": "1",
    },
    body: JSON.stringify({ code }),
  });
  if (!answered.ok) return answered;
  const { status, headers, body } = answered.value;
  const [, cookieName, text] = /^([^=;]+)=([^;]+)/.exec(headers.get("set-cookie") ?? "") ?? [];
  if (status !== 200 || cookieName === undefined || text === undefined)
    return fail(refusalText(url, status, body));
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
  const answered = await answerOf(url, path, ask, { method, headers: accessHeaders(key) });
  if (!answered.ok) return answered;
  const { status, body } = answered.value;
  if (status === 200) return ok(isObject(body) ? body : {});
  return fail(refusalText(url, status, body, options));
}

/** A whole answer, whatever its status; null stands for a body that is no JSON. */
interface Answer {
  readonly status: number;
  readonly headers: Headers;
  readonly body: unknown;
}

async function answerOf(
  url: string,
  path: string,
  ask: Ask,
  init: RequestInit,
): Promise<Result<Answer, string>> {
  try {
    const response = await ask(`${url}${path}`, {
      ...init,
      redirect: "error", // The key or code is for this server.
      signal: AbortSignal.timeout(TIMEOUT_MS),
    });
    const { status, headers } = response;
    return ok({ status, headers, body: await response.json().catch(() => null) });
  } catch (cause) {
    return fail(noAnswer(url, cause));
  }
}

/** What a server that refused has said, in the words of the command's options. */
export function refusalText(url: string, status: number, body: unknown, options: OptionNames = {}): string {
  if (!isObject(body) || typeof body.message !== "string") return `${url} answered ${status}.`;
  const reason = body.message.replace(/[a-z]+(_[a-z]+)*/g, (word) =>
    Object.hasOwn(options, word) ? options[word]! : word,
  );
  return `${url} answered ${status}: ${reason}.`;
}

/** The seconds after which a server wants to be asked again; null if it does not say so in seconds. */
export function retryAfterSeconds(headers: Headers): number | null {
  const seconds = headers.get("retry-after") ?? "";
  return /^\d{1,6}$/.test(seconds) ? Number(seconds) : null;
}

function accessHeaders(key: AskedServer["key"]): Record<string, string> {
  if (typeof key === "string") return { authorization: `Bearer ${key}` };
  return { cookie: `${key.cookieName}=${key.text}`, "x-wherehouse-page": "1" };
}
