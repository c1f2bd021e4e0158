import { MS_PER_MINUTE } from "../../model/time/units.ts";

const MINUTES = 60;

/** Messages a second over the last hour, or since the first of them. */
export class MessageRate {
  /** By minute, that of number m at m modulo 60. */
  readonly #counts = new Uint32Array(MINUTES);
  #minute = 0;
  #sinceMs: number | null = null;

  note(nowMs: number): void {
    this.#sinceMs ??= nowMs;
    this.#turnTo(nowMs);
    this.#counts[this.#minute % MINUTES]!++;
  }

  /** Null before the first minute is over: a few messages tell nothing. */
  perSecond(nowMs: number): number | null {
    if (this.#sinceMs === null || nowMs - this.#sinceMs < MS_PER_MINUTE) return null;
    this.#turnTo(nowMs);
    const sum = this.#counts.reduce((total, count) => total + count, 0);
    // The minute under way is a part of one.
    const keptMs = (MINUTES - 1) * MS_PER_MINUTE + (nowMs % MS_PER_MINUTE);
    return sum / (Math.min(nowMs - this.#sinceMs, keptMs) / 1000);
  }

  /** Minutes that nothing was noted in are emptied. */
  #turnTo(nowMs: number): void {
    const minute = Math.floor(nowMs / MS_PER_MINUTE);
    const passed = Math.min(minute - this.#minute, MINUTES);
    for (let step = 0; step < passed; step++) this.#counts[(minute - step) % MINUTES] = 0;
    this.#minute = Math.max(minute, this.#minute);
  }
}

/**
 * For how long we may be away until the broker begins to throw away what it keeps for us, if as much comes as lately.
 * Null where nothing comes.
 */
export function outageSecondsMax(queuedMessagesMax: number, messagesPerSecond: number): number | null {
  return messagesPerSecond > 0 ? queuedMessagesMax / messagesPerSecond : null;
}
