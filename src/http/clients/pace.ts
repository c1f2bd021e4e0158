import { partOf, TIERS, type TierName } from "../../auth/tiers.ts";

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
