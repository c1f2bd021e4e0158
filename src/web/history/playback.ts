import type { TimeRange } from "../time/local-day.ts";
import type { Track } from "./track.ts";

/** Multiples of the real speed. */
export const RATES = [1, 5, 10, 30, 60, 120, 300] as const;

export type Rate = (typeof RATES)[number];

/**
 * The clock of a day's playback. It runs evenly from the first position to the last, but jumps over silences. A clock
 * at the end stays at the end when new positions arrive. `nowMs` is the caller's time.
 */
export class Playback {
  #track: Track;
  #rate: Rate = 30;
  /** Null at the end. */
  #clockMs: number | null = null;
  /** Where playing stops before the end; null if nowhere. */
  #untilMs: number | null = null;
  /** When the clock was last advanced, in the caller's time; null while it is paused. */
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

  /** The clock after its last move; null if the track is empty. */
  get clockMs(): number | null {
    return this.#clockMs ?? this.#track.range?.endMs ?? null;
  }

  /** Plays from the clock, or from the beginning if the clock is at the end. */
  play(nowMs: number): void {
    const { range } = this.#track;
    if (range === null || this.isPlaying) return;
    this.#untilMs = null;
    this.#clockMs ??= range.startMs;
    this.#ranMs = nowMs;
  }

  pause(nowMs: number): void {
    this.advance(nowMs);
    this.#stop();
  }

  #stop(): void {
    this.#ranMs = null;
    this.#untilMs = null;
  }

  setRate(rate: Rate, nowMs: number): void {
    this.advance(nowMs);
    this.#rate = rate;
  }

  /** Plays a part of the track. */
  playRange({ startMs, endMs }: TimeRange, nowMs: number): void {
    this.seek(startMs, nowMs);
    this.play(nowMs);
    this.#untilMs = endMs;
  }

  /** Sets the clock to an instant, clipped to the range of the track. */
  seek(ms: number, nowMs: number): void {
    this.#untilMs = null;
    this.#move(ms, nowMs);
  }

  #move(ms: number, nowMs: number): void {
    const { range } = this.#track;
    if (range === null) return;
    this.#clockMs = ms < range.endMs ? Math.max(ms, range.startMs) : null;
    if (this.isPlaying) this.#ranMs = this.isAtEnd ? null : nowMs;
  }

  /** Moves the clock to the current time. It stops at the end. */
  advance(nowMs: number): void {
    if (this.#ranMs === null || this.#clockMs === null) return;
    const ms = this.#clockMs + (nowMs - this.#ranMs) * this.#rate;
    const nextMs = this.#track.silenceAt(ms)?.endMs ?? ms;
    const untilMs = this.#untilMs ?? Number.POSITIVE_INFINITY;
    this.#move(Math.min(nextMs, untilMs), nowMs);
    if (nextMs >= untilMs) this.#stop();
  }

  /** Continues with an updated track of the same day. */
  goOnWith(track: Track, nowMs: number): void {
    this.#track = track;
    if (this.#clockMs !== null) this.#move(this.#clockMs, nowMs);
  }
}
