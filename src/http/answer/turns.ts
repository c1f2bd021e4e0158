import { Semaphore } from "../../lib/schedule/semaphore.ts";
import { nextTurn } from "../../lib/schedule/timers.ts";
import type { Answer } from "./responder.ts";

/*
 * How much is answered in one turn of the event loop: a number of requests, and of an app's long answers one.
 */

/** How long an answer may take beside others in its turn of the event loop, or all answers of an app together. */
const LONG_MS = 4;
/** Quicker ones are not added up: as many as come in a turn take little longer. */
const QUICK_MS = 0.1;

/**
 * Answers that are made in one piece and mostly take microseconds. An app's of which the last took long are made one in
 * a turn of the event loop, so that sixteen that come together don't hold it for sixteen times as long. So are those of
 * which many, none of them long, took as long together. There is one for all endpoints of a server.
 */
export class LongAnswers {
  /** Apps whose last answer took long. */
  readonly #slow = new Set<string>();
  /** By app, what those of its answers in this turn took that were not quick. */
  readonly #spentMs = new Map<string, number>();
  readonly #turns = new Semaphore(1);
  readonly #nowMs: () => number;

  constructor(nowMs = () => performance.now()) {
    this.#nowMs = nowMs;
  }

  make(appId: string, answer: () => Answer): Answer {
    if (!this.#slow.has(appId)) return this.#timed(appId, answer);
    const turn = this.#turns.run(appId, async () => {
      const made = this.#timed(appId, answer);
      if (this.#slow.has(appId)) await nextTurn(); // Those behind a short one don't pay for what made another long.
      return { made }; // Whatever that waits for, those behind it don't.
    });
    return turn.then(({ made }) => made);
  }

  #timed(appId: string, answer: () => Answer): Answer {
    const startedMs = this.#nowMs();
    const made = answer();
    const tookMs = this.#nowMs() - startedMs;
    // A quick one behind a long one doesn't make room for another long one in the same turn.
    const isAfterOthers = this.#spentMs.size > 0;
    if ((tookMs > QUICK_MS || isAfterOthers) && this.#spend(appId, tookMs) > LONG_MS) this.#slow.add(appId);
    else this.#slow.delete(appId);
    return made;
  }

  /** Returns what that makes together, in this turn. */
  #spend(appId: string, ms: number): number {
    const before = this.#spentMs.get(appId) ?? 0;
    if (ms <= QUICK_MS) return before;
    if (this.#spentMs.size === 0) setImmediate(() => this.#spentMs.clear());
    this.#spentMs.set(appId, before + ms);
    return before + ms;
  }
}

type Fetch = (request: Request) => Response | Promise<Response>;

/** 5 to 20 ms of the cheapest answers; a key that may ask for costly ones has a rate. */
const REQUESTS_A_TURN_MAX = 250;

/**
 * Looks at so many requests in a turn of the event loop, and at the rest in turns after it. Runtimes hand over all that
 * are there, and one client can send ten thousand at once over each of its connections. To put off a request is also
 * to ask its client for patience: Bun 1.4.5 closes a connection whose next request comes before the answer, as RFC 9112
 * §9.3.2 has clients that pipeline be ready for.
 */
export function inShortTurns(answer: Fetch): Fetch {
  let left = REQUESTS_A_TURN_MAX;

  return function answerInTurn(request): Response | Promise<Response> {
    if (left === 0) return nextTurn().then(() => answerInTurn(request));
    if (left === REQUESTS_A_TURN_MAX) {
      setImmediate(() => {
        left = REQUESTS_A_TURN_MAX;
      });
    }
    left--;
    return answer(request);
  };
}
