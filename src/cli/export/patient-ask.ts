import { wait } from "../../lib/schedule/timers.ts";
import { type Ask, retryAfterSeconds } from "../../operator/remote/ask-server.ts";

/** If a server is busy, the request is repeated after the time that the server names, up to a minute. */
const ATTEMPTS_MAX = 10;
const WAIT_SECONDS_MAX = 60;

/** Repeats requests that a busy server refuses: an export of many files may exceed the key's rate limit. */
export function patient(ask: Ask, signal: AbortSignal): Ask {
  return async (url, init) => {
    for (let attempt = 1; ; attempt++) {
      const response = await ask(url, init);
      const { status, headers } = response;
      const seconds = retryAfterSeconds(headers);
      if ((status !== 429 && status !== 503) || seconds === null || attempt === ATTEMPTS_MAX) return response;
      await response.body?.cancel();
      await wait(Math.min(WAIT_SECONDS_MAX, seconds) * 1000, signal);
      signal.throwIfAborted();
    }
  };
}
