/** How long a dot takes to where its device is: about as long as devices in motion take between two reports. */
export const GLIDE_MS = 900;

/** A frame that took longer than this shows no motion. */
const SLOW_FRAME_MS = 150;
/** So many of them in a row are no chance. */
const SLOW_FRAMES = 4;
/** Then the browser may have less to do, or a graphics card again. */
const REST_MS = 60_000;
/** Nobody saw the page for so long, or the machine slept: that says nothing of how it draws. */
const PAUSE_MS = 3000;

/**
 * How long dots glide: not at all for those who want no motion, and where the browser draws too slowly. Without a graphics card a frame of many dots takes half a
 * second of all processors: there they leap, so that whoever searches or clicks meanwhile waits for one frame, not for
 * one after the other.
 */
export class GlidePace {
  readonly #reducedMotion: { readonly matches: boolean };
  #lastMs = Number.NEGATIVE_INFINITY;
  #slowFrames = 0;
  #restsUntilMs = 0;

  constructor(reducedMotion: { readonly matches: boolean }) {
    this.#reducedMotion = reducedMotion;
  }

  glideMs(nowMs: number): number {
    return this.#reducedMotion.matches || nowMs < this.#restsUntilMs ? 0 : GLIDE_MS;
  }

  /** A frame is drawn; `isGliding` where another one follows at once. */
  frame(nowMs: number, isGliding: boolean): void {
    const tookMs = nowMs - this.#lastMs;
    this.#lastMs = isGliding ? nowMs : Number.NEGATIVE_INFINITY;
    if (tookMs > PAUSE_MS) return;
    this.#slowFrames = tookMs > SLOW_FRAME_MS ? this.#slowFrames + 1 : 0;
    if (this.#slowFrames < SLOW_FRAMES) return;
    this.#slowFrames = 0;
    this.#restsUntilMs = nowMs + REST_MS;
  }
}
