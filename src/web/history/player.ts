import type { TimeRange } from "../time/local-day.ts";
import { areOfSame, type History } from "./history.ts";
import { Playback, type Rate } from "./playback.ts";
import { type Head, headAt } from "./track.ts";

/** The used part of the map. */
export interface HeadMap {
  setHead(head: Head | null): void;
}

/** Plays the chosen day back, frame by frame. */
export class Player {
  readonly #map: HeadMap;
  readonly #changed: () => void;
  #history: History | null = null;
  #playback: Playback | null = null;
  #frame = 0;

  constructor(map: HeadMap, changed: () => void) {
    this.#map = map;
    this.#changed = changed;
  }

  /** Null if no single day is chosen: the track of several days is too coarse. */
  get playback(): Playback | null {
    return this.#playback;
  }

  use(history: History | null): void {
    const isSameDay = areOfSame(history, this.#history);
    this.#history = history;
    if (history === null || history.span.days > 1) this.#playback = null;
    else if (isSameDay && this.#playback !== null) this.#playback.goOnWith(history.track, performance.now());
    else {
      const rate = this.#playback?.rate;
      this.#playback = new Playback(history.track);
      if (rate !== undefined) this.#playback.setRate(rate, performance.now());
    }
    this.#show();
  }

  toggle(): void {
    const now = performance.now();
    if (this.#playback?.isPlaying) this.#playback.pause(now);
    else this.#playback?.play(now);
    this.#run();
  }

  /** Plays a part of the day. */
  playRange(range: TimeRange): void {
    this.#playback?.playRange(range, performance.now());
    this.#run();
  }

  setRate(rate: Rate): void {
    this.#playback?.setRate(rate, performance.now());
    this.#changed();
  }

  seek(ms: number): void {
    this.#playback?.seek(ms, performance.now());
    this.#show();
  }

  /**
   * Seeks to the time at which the device was closest to a clicked position, if it came near. Returns that time, or
   * null.
   */
  seekNear({ latitude, longitude }: Pick<Head, "latitude" | "longitude">, metersMax: number): number | null {
    const { track } = this.#history ?? {};
    const closest = track?.nearestTo(latitude, longitude);
    if (closest == null || closest.meters > metersMax) return null;
    const ms = track!.timestampMs[closest.index]!;
    this.seek(ms);
    return ms;
  }

  #run(): void {
    cancelAnimationFrame(this.#frame);
    this.#playback?.advance(performance.now());
    this.#show();
    if (this.#playback?.isPlaying) this.#frame = requestAnimationFrame(() => this.#run());
  }

  /** Shows the head, except at the end of today, where the device's own dot is. */
  #show(): void {
    const { clockMs = null, isAtEnd = true } = this.#playback ?? {};
    const isNow = isAtEnd && (this.#history?.range.endMs ?? 0) > Date.now();
    const head =
      this.#history === null || clockMs === null || isNow ? null : headAt(this.#history.track, clockMs);
    this.#map.setHead(head);
    this.#changed();
  }
}
