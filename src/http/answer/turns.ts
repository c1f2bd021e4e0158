import { Semaphore } from "../../lib/schedule/semaphore.ts";
import { nextTurn } from "../../lib/schedule/timers.ts";
import type { Answer } from "./responder.ts";

/* Limits the work of one turn of the event loop: a number of requests, and one long answer per app. */

/** How long an answer may take together with others in its turn, or all answers of an app together. */
const LONG_MS = 4;
/** Quicker answers are not added up: as many as fit in a turn take little longer. */
const QUICK_MS = 0.1;

/**
 * Runs answers that are created synchronously, mostly in microseconds. If an app's last answer took long, its next ones
 * run one per turn, so that sixteen simultaneous requests don't block the event loop for sixteen times as long. The
 * same applies if many short answers together took long. All endpoints of a server share one instance.
 */
export class LongAnswers {
  /** Apps whose last answer took long. */
  readonly #slow = new Set<string>();
  /** For each app, the time of its answers in this turn that were not quick. */
  readonly #spentMs = new Map<string, number>();
  readonly #turns = new Semaphore(1);
  readonly #nowMs: () => number;

  constructor(nowMs = () => performance.now()) {
    this.#nowMs = nowMs;
  }

  make(appId: string, answer: () => Answer): Answer {
    if (!this.#slow.has(appId)) return this.#timed(appId, answer);
    const turn = this.#turns.run(appId, async () => {
      const result = this.#timed(appId, answer);
      // It may fail, or its client leave, before this turn is over; an unhandled rejection would end the process.
      if (result instanceof Promise) result.catch(() => undefined);
      if (this.#slow.has(appId)) await nextTurn(); // Later answers don't wait a turn for a short one.
      return { result }; // Wrapped, so that the next answer doesn't wait for this one's promise.
    });
    return turn.then(({ result }) => result);
  }

  #timed(appId: string, answer: () => Answer): Answer {
    const startedMs = this.#nowMs();
    const result = answer();
    const tookMs = this.#nowMs() - startedMs;
    // A quick answer after a long one makes no room for another long one in the same turn.
    const isAfterOthers = this.#spentMs.size > 0;
    if ((tookMs > QUICK_MS || isAfterOthers) && this.#spend(appId, tookMs) > LONG_MS) this.#slow.add(appId);
    else this.#slow.delete(appId);
    return result;
  }

  /** Returns the app's total in this turn. */
  #spend(appId: string, ms: number): number {
    const before = this.#spentMs.get(appId) ?? 0;
    if (ms <= QUICK_MS) return before;
    if (this.#spentMs.size === 0) setImmediate(() => this.#spentMs.clear());
    this.#spentMs.set(appId, before + ms);
    return before + ms;
  }
}

type Fetch = (request: Request) => Response | Promise<Response>;

/** 5 to 20 ms of the cheapest answers. Keys that may send costly requests have a rate limit. */
const REQUESTS_A_TURN_MAX = 250;

/**
 * Starts a limited number of requests per turn of the event loop. Runtimes deliver all requests that have arrived, and
 * one client can send ten thousand at once over each connection. Postponing a request may cost its client the
 * connection: Bun 1.4.5 closes one whose next request comes before the answer, for which RFC 9112 §9.3.2 has pipelining
 * clients be prepared.
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
