/** How long a dot takes to where its device is: about as long as devices in motion take between two reports. */
export const GLIDE_MS = 900;

/** Frames that take longer, each of them, show no motion. */
const FRAME_MS_MAX = 150;
/** So many are looked at together: browsers draw a frame ahead, so that a long one is followed by a short one. */
const FRAMES = 6;
/** Then the browser may have less to do, or a graphics card again. Each time that it hasn't, twice as long. */
const REST_MS = 60_000;
const REST_MS_MAX = 3_600_000;
/** What drawing may take of the time where frames take long: the rest is for all else. */
const FRAME_SHARE = 0.5;
/** Nobody saw the page for so long, or the machine slept: that says nothing of how it draws. */
const PAUSE_MS = 3000;

/**
 * How long dots glide: not at all for those who want no motion, and where the browser draws too slowly. Without a
 * graphics card a frame of many dots takes half a second of all processors, and of the page itself: there dots leap,
 * and not with every event, so that whoever searches or clicks meanwhile waits for one frame at most.
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
  /** What a frame takes where they take long. */
  #frameMs = 0;

  constructor(reducedMotion: { readonly matches: boolean }) {
    this.#reducedMotion = reducedMotion;
  }

  glideMs(nowMs: number): number {
    return this.#reducedMotion.matches || this.#isSlow(nowMs) ? 0 : GLIDE_MS;
  }

  /** How long dots that have moved wait for the next frame. */
  waitMs(nowMs: number): number {
    return this.#isSlow(nowMs) ? Math.max(0, this.#drawnMs + this.#frameMs / FRAME_SHARE - nowMs) : 0;
  }

  /** A frame is drawn; `isGliding` where another one follows at once. */
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

  #isSlow(nowMs: number): boolean {
    return nowMs < this.#restsUntilMs;
  }
}
