import type { TimeRange } from "../time/local-day.ts";

/** Multiples of the real speed. */
export const LAPSE_RATES = [10, 30, 60, 120, 300, 600, 1200, 1800, 3600] as const;

/** How long a time lapse takes by itself. */
const USUAL_SECONDS = 45;

/** The rate at which a range takes about three quarters of a minute. */
export function usualRate({ startMs, endMs }: TimeRange): number {
  const wanted = (endMs - startMs) / 1000 / USUAL_SECONDS;
  const distance = (rate: number) => Math.abs(Math.log(rate / wanted));
  return LAPSE_RATES.reduce((best, rate) => (distance(rate) < distance(best) ? rate : best));
}

/**
 * The clock of a time lapse. It runs evenly through the range, waits where nothing is loaded yet, and stops at the end.
 * `nowMs` is the caller's time.
 */
export class LapseClock {
  range: TimeRange;
  /** Up to this instant the movements are loaded. */
  #loadedMs: number;
  #clockMs: number;
  #rate: number;
  /** When the clock was last advanced, in the caller's time; null while it is paused. */
  #ranMs: number | null = null;

  constructor(range: TimeRange) {
    this.range = range;
    this.#loadedMs = range.startMs;
    this.#clockMs = range.startMs;
    this.#rate = usualRate(range);
  }

  get clockMs(): number {
    return this.#clockMs;
  }

  get loadedMs(): number {
    return this.#loadedMs;
  }

  get rate(): number {
    return this.#rate;
  }

  get isPlaying(): boolean {
    return this.#ranMs !== null;
  }

  /** Whether it would run if more was loaded. */
  get isWaiting(): boolean {
    return this.isPlaying && this.#clockMs >= this.#loadedMs && this.#loadedMs < this.range.endMs;
  }

  /** Begins the range later, where the first device appears. */
  beginAt(startMs: number): void {
    this.range = { startMs, endMs: this.range.endMs };
    this.#clockMs = Math.max(this.#clockMs, startMs);
    this.#loadedMs = Math.max(this.#loadedMs, startMs);
    this.#rate = usualRate(this.range);
  }

  loadedTo(ms: number): void {
    this.#loadedMs = Math.min(Math.max(ms, this.#loadedMs), this.range.endMs);
  }

  /** Plays from the clock, or from the start if the clock is at the end. */
  play(nowMs: number): void {
    if (this.isPlaying) return;
    if (this.#clockMs >= this.range.endMs) this.#clockMs = this.range.startMs;
    this.#ranMs = nowMs;
  }

  pause(nowMs: number): void {
    this.advance(nowMs);
    this.#ranMs = null;
  }

  setRate(rate: number, nowMs: number): void {
    this.advance(nowMs);
    this.#rate = rate;
  }

  /** Chooses the next greater rate, or the next smaller one for a negative step. */
  changeRate(step: number, nowMs: number): void {
    const place = LAPSE_RATES.findIndex((rate) => rate >= this.#rate);
    const next = LAPSE_RATES[Math.max(0, Math.min(LAPSE_RATES.length - 1, place + step))]!;
    this.setRate(next, nowMs);
  }

  /** Sets the clock to an instant of the loaded part. */
  seek(ms: number, nowMs: number): void {
    this.#clockMs = Math.max(this.range.startMs, Math.min(ms, this.#loadedMs));
    if (this.isPlaying) this.#ranMs = nowMs;
  }

  advance(nowMs: number): void {
    if (this.#ranMs === null) return;
    const ms = this.#clockMs + (nowMs - this.#ranMs) * this.#rate;
    this.#clockMs = Math.min(ms, this.#loadedMs);
    this.#ranMs = this.#clockMs >= this.range.endMs ? null : nowMs;
  }
}
