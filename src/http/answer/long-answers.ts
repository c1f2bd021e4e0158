import { nextTurn } from "../../lib/schedule/next-turn.ts";
import { Semaphore } from "../../lib/schedule/semaphore.ts";
import type { Answer } from "./responder.ts";

/** What an answer may take beside others in its turn of the event loop. */
const LONG_MS = 4;

/**
 * Answers that are made in one piece and mostly take microseconds. An app's of which the last took long are made one in
 * a turn of the event loop, so that sixteen that come together don't hold it for sixteen times as long.
 */
export class LongAnswers {
  /** Apps whose last answer took long. */
  readonly #slow = new Set<string>();
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
    if (this.#nowMs() - startedMs > LONG_MS) this.#slow.add(appId);
    else this.#slow.delete(appId);
    return made;
  }
}
