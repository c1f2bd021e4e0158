import type { Track } from "./track.ts";

/** How much faster than it was. */
export const RATES = [1, 5, 10, 30, 60, 120, 300] as const;

export type Rate = (typeof RATES)[number];

/**
 * The clock of a day that is played back. It runs evenly from the first position to the last, but jumps over silences.
 * At the end it stays at the end, where that is a later one, too. Whoever calls says what the time is now.
 */
export class Playback {
  #track: Track;
  #rate: Rate = 30;
  /** Null at the end. */
  #clockMs: number | null = null;
  /** Until when the clock has run; null while it stands. */
  #ranMs: number | null = null;

  constructor(track: Track) {
    this.#track = track;
  }

  get isPlaying(): boolean {
    return this.#ranMs !== null;
  }

  get rate(): Rate {
    return this.#rate;
  }

  get isAtEnd(): boolean {
    return this.#clockMs === null;
  }

  /** What the clock showed when it was last moved; null where there is no position. */
  get clockMs(): number | null {
    return this.#clockMs ?? this.#track.range?.endMs ?? null;
  }

  /** From where the clock stands; from the beginning where that is the end. */
  play(nowMs: number): void {
    const { range } = this.#track;
    if (range === null || this.isPlaying) return;
    this.#clockMs ??= range.startMs;
    this.#ranMs = nowMs;
  }

  pause(nowMs: number): void {
    this.advance(nowMs);
    this.#ranMs = null;
  }

  setRate(rate: Rate, nowMs: number): void {
    this.advance(nowMs);
    this.#rate = rate;
  }

  /** Goes to an instant, or to the first or the last position where that is outside. */
  seek(ms: number, nowMs: number): void {
    const { range } = this.#track;
    if (range === null) return;
    this.#clockMs = ms < range.endMs ? Math.max(ms, range.startMs) : null;
    if (this.isPlaying) this.#ranMs = this.isAtEnd ? null : nowMs;
  }

  /** Moves the clock as far as it has run. At the end it stops. */
  advance(nowMs: number): void {
    if (this.#ranMs === null || this.#clockMs === null) return;
    const ms = this.#clockMs + (nowMs - this.#ranMs) * this.#rate;
    this.seek(this.#track.silenceAt(ms)?.endMs ?? ms, nowMs);
  }

  /** Goes on with what another answer has of the same day. */
  goOnWith(track: Track, nowMs: number): void {
    this.#track = track;
    if (this.#clockMs !== null) this.seek(this.#clockMs, nowMs);
  }
}
