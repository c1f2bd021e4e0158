/** The duration of a glide: about the time between two reports of a moving device. */
export const GLIDE_MS = 900;

/** More dots take up to half a second a frame without a graphics card: then nothing is drawn but what is needed. */
export const MANY_DOTS = 20_000;

/** Slower frames show no motion. */
const FRAME_MS_MAX = 150;
/** Durations are averaged over this many frames: browsers draw a frame ahead, so a short frame follows a long one. */
const FRAMES = 6;
/** After this time gliding is tried again. The time doubles with each failure. */
const REST_MS = 60_000;
const REST_MS_MAX = 3_600_000;
/** The share of the time that slow drawing may take, so that the page stays responsive. */
const FRAME_SHARE = 0.5;
/** After a longer pause the page was hidden or the machine slept, so the frame is not measured. */
const PAUSE_MS = 3000;

/**
 * Decides how long dots glide: not at all for users who prefer reduced motion, or if the browser draws too slowly.
 * Without a graphics card a frame of many dots takes half a second of all processors. Then dots jump, and are not drawn
 * with every event, so that a user who searches or clicks waits for at most one frame.
 */
export class GlidePace {
  readonly #reducedMotion: { readonly matches: boolean };
  /** When the last frame of a glide was drawn; null between two glides. */
  #lastMs: number | null = null;
  #frames = 0;
  #tookMs = 0;
  #restMs = REST_MS;
  #restsUntilMs = 0;
  #drawnMs = Number.NEGATIVE_INFINITY;
  /** The duration of a slow frame. */
  #frameMs = 0;

  constructor(reducedMotion: { readonly matches: boolean }) {
    this.#reducedMotion = reducedMotion;
  }

  glideMs(nowMs: number): number {
    return this.#reducedMotion.matches || this.isSlow(nowMs) ? 0 : GLIDE_MS;
  }

  /** How long dots that have moved wait for the next frame. */
  waitMs(nowMs: number): number {
    return this.isSlow(nowMs) ? Math.max(0, this.#drawnMs + this.#frameMs / FRAME_SHARE - nowMs) : 0;
  }

  /** Measures a frame. `isGliding` says that another frame follows immediately. */
  frame(nowMs: number, isGliding: boolean): void {
    this.#drawnMs = nowMs;
    const tookMs = nowMs - (this.#lastMs ?? Number.NEGATIVE_INFINITY);
    this.#lastMs = isGliding ? nowMs : null;
    if (tookMs > PAUSE_MS) return;
    this.#frames++;
    this.#tookMs += tookMs;
    if (this.#frames < FRAMES) return;
    const frameMs = this.#tookMs / FRAMES;
    this.#frames = 0;
    this.#tookMs = 0;
    if (frameMs <= FRAME_MS_MAX) {
      this.#restMs = REST_MS;
      return;
    }
    this.#restsUntilMs = nowMs + this.#restMs;
    this.#restMs = Math.min(this.#restMs * 2, REST_MS_MAX);
    this.#frameMs = frameMs;
  }

  /** Whether frames take so long that few should be drawn. */
  isSlow(nowMs: number): boolean {
    return nowMs < this.#restsUntilMs;
  }
}
