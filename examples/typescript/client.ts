/**
 * A client of Wherehouse whose paths, parameters and answers are typed from the document that the server itself
 * hands out at `/docs`. The types are written by `npm run check`; in a project of your own, by
 * `npx openapi-typescript http://127.0.0.1:3000/docs --output wherehouse.d.ts`.
 */
import createClient from "openapi-fetch";
import type { paths } from "./wherehouse.d.ts";

const TRIES_MAX = 5;

export function createWherehouse(url: string, key: string) {
  return createClient<paths>({
    baseUrl: url,
    headers: { authorization: `Bearer ${key}` },
    fetch: fetchPatiently,
  });
}

/**
 * If the server is too busy, or the key has asked too often, waits as long as `Retry-After` says and tries
 * again. That is safe for reports too: one that was stored already changes nothing.
 */
async function fetchPatiently(request: Request): Promise<Response> {
  for (let tries = 1; ; tries++) {
    const response = await fetch(request.clone());
    const isBusy = response.status === 429 || response.status === 503;
    if (!isBusy || tries === TRIES_MAX) return response;
    await response.body?.cancel();
    const seconds = Number(response.headers.get("retry-after") ?? 1);
    await new Promise((resolve) => setTimeout(resolve, seconds * 1000));
  }
}

/** What the server answered; throws, with the server's own words, where that is an error. */
export function answerOf<Answer>(result: {
  readonly data?: Answer;
  readonly error?: { readonly message?: string };
  readonly response: Response;
}): Answer {
  if (result.data !== undefined) return result.data;
  throw new Error(`${result.response.status}: ${result.error?.message ?? result.response.statusText}`);
}
