/** How long a dot takes to where its device is: about as long as devices in motion take between two reports. */
export const GLIDE_MS = 900;

/** Frames that take longer, each of them, show no motion. */
const FRAME_MS_MAX = 150;
/** So many are looked at together: browsers draw a frame ahead, so that a long one is followed by a short one. */
const FRAMES = 6;
/** Then the browser may have less to do, or a graphics card again. */
const REST_MS = 60_000;
/** Nobody saw the page for so long, or the machine slept: that says nothing of how it draws. */
const PAUSE_MS = 3000;

/**
 * How long dots glide: not at all for those who want no motion, and where the browser draws too slowly. Without a
 * graphics card a frame of many dots takes half a second of all processors: there they leap, so that whoever searches or
 * clicks meanwhile waits for one frame, not for one after the other.
 */
export class GlidePace {
  readonly #reducedMotion: { readonly matches: boolean };
  /** When the last frame of a glide was drawn; null between two glides. */
  #lastMs: number | null = null;
  #frames = 0;
  #tookMs = 0;
  #restsUntilMs = 0;

  constructor(reducedMotion: { readonly matches: boolean }) {
    this.#reducedMotion = reducedMotion;
  }

  glideMs(nowMs: number): number {
    return this.#reducedMotion.matches || nowMs < this.#restsUntilMs ? 0 : GLIDE_MS;
  }

  /** A frame is drawn; `isGliding` where another one follows at once. */
  frame(nowMs: number, isGliding: boolean): void {
    const tookMs = nowMs - (this.#lastMs ?? Number.NEGATIVE_INFINITY);
    this.#lastMs = isGliding ? nowMs : null;
    if (tookMs > PAUSE_MS) return;
    this.#frames++;
    this.#tookMs += tookMs;
    if (this.#frames < FRAMES) return;
    if (this.#tookMs > FRAMES * FRAME_MS_MAX) this.#restsUntilMs = nowMs + REST_MS;
    this.#frames = 0;
    this.#tookMs = 0;
  }
}
