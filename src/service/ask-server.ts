import { isObject } from "../lib/is-object.ts";
import { fail, ok, type Result } from "../lib/result.ts";
import { noAnswer } from "./no-answer.ts";

/** `fetch`, or what stands for it. */
export type Ask = (url: string, init: RequestInit) => Promise<Response>;

/** A running server, and a key of it. */
export interface AskedServer {
  /** Without a slash at the end. */
  readonly url: string;
  readonly key: string;
}

const TIMEOUT_MS = 30_000;

/** The members of what a running server answers to a command; the error is a sentence. */
export async function askServer(
  { url, key }: AskedServer,
  method: string,
  path: string,
  ask: Ask,
): Promise<Result<Readonly<Record<string, unknown>>, string>> {
  let response: Response;
  let body: unknown;
  try {
    response = await ask(`${url}${path}`, {
      method,
      headers: { authorization: `Bearer ${key}` },
      redirect: "error", // The key is for this server.
      signal: AbortSignal.timeout(TIMEOUT_MS),
    });
    body = await response.json().catch(() => null);
  } catch (cause) {
    return fail(noAnswer(url, cause));
  }
  if (response.status === 200) return ok(isObject(body) ? body : {});
  const reason = isObject(body) && typeof body.message === "string" ? `: ${body.message}` : "";
  return fail(`${url} answered ${response.status}${reason}.`);
}
