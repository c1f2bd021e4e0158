import { type Holder, SharedPool } from "../../lib/schedule/shared-pool.ts";
import type { Wait } from "../../lib/schedule/wait.ts";

/** An answer that is held looks so often whether the server stops. */
const SLICE_MS = 250;

export interface HeldAnswersOptions {
  /** Held at a time. */
  readonly max: number;
  readonly wait: Wait;
  readonly isStopping: () => boolean;
}

/** Answers that are late on purpose: so many at a time, and of these no key's and no app's more than its share. */
export class HeldAnswers {
  readonly #pool: SharedPool;
  readonly #wait: Wait;
  readonly #isStopping: () => boolean;

  constructor({ max, wait, isStopping }: HeldAnswersOptions) {
    this.#pool = new SharedPool(max);
    this.#wait = wait;
    this.#isStopping = isStopping;
  }

  /** Held now. */
  get size(): number {
    return this.#pool.taken;
  }

  /**
   * Resolves after so long, or before where nobody waits for the answer any more, or nobody should because the server
   * stops; null where no more answers are held.
   */
  hold(holder: Holder, ms: number, signal: AbortSignal): Promise<void> | null {
    if (!this.#pool.take(holder, 1)) return null;
    return this.#waitFor(ms, signal).finally(() => this.#pool.give(holder, 1));
  }

  async #waitFor(ms: number, signal: AbortSignal): Promise<void> {
    for (let leftMs = ms; leftMs > 0 && !signal.aborted && !this.#isStopping(); leftMs -= SLICE_MS) {
      await this.#wait(Math.min(leftMs, SLICE_MS), signal);
    }
  }
}
