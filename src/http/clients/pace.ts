import { partOf, TIERS, type TierName } from "../../auth/tiers.ts";
import { type Holder, SharedPool } from "../../lib/schedule/shared-pool.ts";
import type { Wait } from "../../lib/schedule/timers.ts";

/*
 * Requests of clients that come faster than their key may send: how long each must wait, and where it waits.
 */

/** Below this the search for keys that are in time again isn't worth its walk. */
const SWEEP_SIZE_MIN = 1024;

/**
 * Slows a key down to its tier's rate rather than refuse it: what a phone is refused it may delete, and what it is told
 * late it still keeps. (The "generic cell rate algorithm", with a queue behind it.)
 */
export class Pace {
  /** When the next request of a key would be in time if there were no bursts. Keys that exist bound their number. */
  readonly #dueMs = new Map<string, number>();
  readonly #delayMsMax: number;
  readonly #share: () => number;
  #sweepAtSize = SWEEP_SIZE_MIN;

  /** `share` is among how many servers each key's rate is divided now. */
  constructor(delayMsMax: number, share: () => number = () => 1) {
    this.#delayMsMax = delayMsMax;
    this.#share = share;
  }

  /** For how long a request of this key must wait; null where that is too long, and then it doesn't count. */
  delayMs(keyId: string, tier: TierName, nowMs: number): number | null {
    const limit = partOf(tier, this.#share());
    if (limit === null) return 0;
    const intervalMs = 1000 / limit.requestsPerSecond;
    const burstMs = limit.burst * intervalMs;
    const knownMs = this.#dueMs.get(keyId) ?? 0;
    // One further ahead than that was set before the clock went back.
    const isOfNow = knownMs <= nowMs + this.#delayMsMax;
    const dueMs = Math.max(isOfNow ? knownMs : 0, nowMs - burstMs) + intervalMs;
    const delayMs = Math.max(0, dueMs - nowMs);
    if (delayMs > this.#delayMsMax) return null;
    if (this.#dueMs.size >= this.#sweepAtSize) this.#sweep(nowMs);
    this.#dueMs.set(keyId, dueMs);
    return delayMs;
  }

  /** Keys whose pace is kept. */
  get size(): number {
    return this.#dueMs.size;
  }

  /** A key without a burst behind it is as good as one that is not known; some are kept for longer than that. */
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

/** How many answers are held, and what ends that. */
export interface HeldAnswersOptions {
  /** Held at a time. */
  readonly max: number;
  readonly wait: Wait;
  /** Comes when the server begins to stop. */
  readonly stopping: AbortSignal;
}

/** Answers that are late on purpose: a bounded number at a time, of which each key and app has its share. */
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
