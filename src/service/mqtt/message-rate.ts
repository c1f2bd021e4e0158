import { MS_PER_MINUTE } from "../../model/time/units.ts";

const MINUTES = 60;

/** Messages a second over the last hour, or since the first of them. */
export class MessageRate {
  /** By minute, modulo 60. */
  readonly #counts = new Uint32Array(MINUTES);
  #minute = 0;
  #sinceMs: number | null = null;

  note(nowMs: number): void {
    this.#sinceMs ??= nowMs;
    this.#turnTo(nowMs);
    this.#counts[this.#minute % MINUTES]!++;
  }

  /** Null during the first minute: a few messages say nothing. */
  perSecond(nowMs: number): number | null {
    if (this.#sinceMs === null || nowMs - this.#sinceMs < MS_PER_MINUTE) return null;
    this.#turnTo(nowMs);
    const sum = this.#counts.reduce((total, count) => total + count, 0);
    // The present minute counts in part.
    const keptMs = (MINUTES - 1) * MS_PER_MINUTE + (nowMs % MS_PER_MINUTE);
    return sum / (Math.min(nowMs - this.#sinceMs, keptMs) / 1000);
  }

  /** Clears the minutes since the last call. */
  #turnTo(nowMs: number): void {
    const minute = Math.floor(nowMs / MS_PER_MINUTE);
    const passed = Math.min(minute - this.#minute, MINUTES);
    for (let step = 0; step < passed; step++) this.#counts[(minute - step) % MINUTES] = 0;
    this.#minute = Math.max(minute, this.#minute);
  }
}

/**
 * How long the server may be away before the broker drops queued messages, at the recent rate. Null if the rate is 0.
 */
export function outageSecondsMax(queuedMessagesMax: number, messagesPerSecond: number): number | null {
  return messagesPerSecond > 0 ? queuedMessagesMax / messagesPerSecond : null;
}
