import { dayAt, type LocalDay, rangeOf, type TimeRange } from "./local-day.ts";

/** Knows which day it is. Everybody asks in every frame, and `Intl` takes a tenth of a millisecond to say. */
export class Calendar {
  #zone = "";
  #day: LocalDay | null = null;
  #range: TimeRange = { startMs: 0, endMs: 0 };

  today(zone: string, nowMs: number): LocalDay {
    const isSame = zone === this.#zone && nowMs >= this.#range.startMs && nowMs < this.#range.endMs;
    if (this.#day !== null && isSame) return this.#day;
    this.#zone = zone;
    this.#day = dayAt(nowMs, zone);
    this.#range = rangeOf(this.#day, zone);
    return this.#day;
  }
}
