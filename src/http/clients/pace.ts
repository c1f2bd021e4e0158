import { partOf, TIERS, type TierName } from "../../auth/tiers.ts";
import { type QuotaOwner, SharedPool } from "../../lib/schedule/shared-pool.ts";
import type { Wait } from "../../lib/schedule/timers.ts";

/* Delays requests of clients that exceed their key's rate: how long each waits, and where. */

/** Below this size a sweep isn't worth its cost. */
const SWEEP_SIZE_MIN = 1024;

/**
 * Slows a key down to its tier's rate instead of refusing requests: a phone may delete a refused point, but it keeps a
 * point until the late answer. (The "generic cell rate algorithm", with a queue after it.)
 */
export class Pace {
  /** When each key's next request is due without bursts. The number of existing keys bounds the size. */
  readonly #dueMs = new Map<string, number>();
  readonly #delayMsMax: number;
  readonly #share: () => number;
  #sweepAtSize = SWEEP_SIZE_MIN;

  /** `share` is the number of servers that share each key's rate. */
  constructor(delayMsMax: number, share: () => number = () => 1) {
    this.#delayMsMax = delayMsMax;
    this.#share = share;
  }

  /** How long a request of this key must wait; null if that is too long, in which case the request doesn't count. */
  delayMs(keyId: string, tier: TierName, nowMs: number): number | null {
    const limit = partOf(tier, this.#share());
    if (limit === null) return 0;
    const intervalMs = 1000 / limit.requestsPerSecond;
    const burstMs = limit.burst * intervalMs;
    const knownMs = this.#dueMs.get(keyId) ?? 0;
    // A time further ahead was set before the clock went back.
    const isOfNow = knownMs <= nowMs + this.#delayMsMax;
    const dueMs = Math.max(isOfNow ? knownMs : 0, nowMs - burstMs) + intervalMs;
    const delayMs = Math.max(0, dueMs - nowMs);
    if (delayMs > this.#delayMsMax) return null;
    if (this.#dueMs.size >= this.#sweepAtSize) this.#sweep(nowMs);
    this.#dueMs.set(keyId, dueMs);
    return delayMs;
  }

  get size(): number {
    return this.#dueMs.size;
  }

  /** Deletes keys that equal unknown ones, at the latest after the longest burst of any tier. */
  #sweep(nowMs: number): void {
    const longestBurstMs = Math.max(...Object.values(TIERS).map(burstMsOf));
    for (const [keyId, dueMs] of this.#dueMs) {
      if (dueMs <= nowMs - longestBurstMs) this.#dueMs.delete(keyId);
    }
    this.#sweepAtSize = Math.max(SWEEP_SIZE_MIN, 2 * this.#dueMs.size);
  }
}

function burstMsOf(limit: (typeof TIERS)[TierName]): number {
  return limit === null ? 0 : (limit.burst / limit.requestsPerSecond) * 1000;
}

export interface DelayedAnswersOptions {
  readonly max: number;
  readonly wait: Wait;
  /** Aborted when the server begins to stop. */
  readonly stopping: AbortSignal;
}

/** Answers that are delayed on purpose, in a limited number with a share for each key and app. */
export class DelayedAnswers {
  readonly #pool: SharedPool;
  readonly #wait: Wait;
  readonly #stopping: AbortSignal;

  constructor({ max, wait, stopping }: DelayedAnswersOptions) {
    this.#pool = new SharedPool(max);
    this.#wait = wait;
    this.#stopping = stopping;
  }

  get size(): number {
    return this.#pool.used;
  }

  /**
   * Resolves after the time, or earlier if the client leaves or the server stops; null if too many answers are delayed.
   */
  hold(owner: QuotaOwner, ms: number, signal: AbortSignal): Promise<void> | null {
    if (!this.#pool.take(owner, 1)) return null;
    return this.#waitFor(ms, signal).finally(() => this.#pool.give(owner, 1));
  }

  async #waitFor(ms: number, signal: AbortSignal): Promise<void> {
    const signals = [signal, this.#stopping];
    if (signals.some(({ aborted }) => aborted)) return;
    // Not AbortSignal.any: the server's signal would collect a listener for every answer.
    const either = new AbortController();
    const end = () => either.abort();
    for (const each of signals) each.addEventListener("abort", end);
    await this.#wait(ms, either.signal).finally(() => {
      for (const each of signals) each.removeEventListener("abort", end);
    });
  }
}
