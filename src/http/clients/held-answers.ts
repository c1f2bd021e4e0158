import { type Holder, SharedPool } from "../../lib/schedule/shared-pool.ts";
import type { Wait } from "../../lib/schedule/wait.ts";

/** How many answers are held, and what ends that. */
export interface HeldAnswersOptions {
  /** Held at a time. */
  readonly max: number;
  readonly wait: Wait;
  /** Comes when the server begins to stop. */
  readonly stopping: AbortSignal;
}

/** Answers that are late on purpose: so many at a time, and of these no key's and no app's more than its share. */
export class HeldAnswers {
  readonly #pool: SharedPool;
  readonly #wait: Wait;
  readonly #stopping: AbortSignal;

  constructor({ max, wait, stopping }: HeldAnswersOptions) {
    this.#pool = new SharedPool(max);
    this.#wait = wait;
    this.#stopping = stopping;
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
    const signals = [signal, this.#stopping];
    if (signals.some(({ aborted }) => aborted)) return;
    // Not AbortSignal.any: the server's signal would know of every answer that was ever held.
    const either = new AbortController();
    const end = () => either.abort();
    for (const each of signals) each.addEventListener("abort", end);
    await this.#wait(ms, either.signal).finally(() => {
      for (const each of signals) each.removeEventListener("abort", end);
    });
  }
}
