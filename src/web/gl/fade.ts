const FADE_MS = 300;

/** A value that moves to another one within a moment, or at once for users who prefer reduced motion. */
export class Fade {
  readonly #reducedMotion: { readonly matches: boolean };
  #from: number;
  #to: number;
  #startMs = Number.NEGATIVE_INFINITY;

  constructor(reducedMotion: { readonly matches: boolean }, value: number) {
    this.#reducedMotion = reducedMotion;
    this.#from = value;
    this.#to = value;
  }

  /** Begins to move, from wherever the value is. */
  moveTo(value: number, nowMs: number): void {
    if (value === this.#to) return;
    this.#from = this.valueAt(nowMs);
    this.#to = value;
    this.#startMs = nowMs;
  }

  valueAt(nowMs: number): number {
    const share = (nowMs - this.#startMs) / FADE_MS;
    if (share >= 1 || this.#reducedMotion.matches) return this.#to;
    const eased = share * share * (3 - 2 * share);
    return this.#from + (this.#to - this.#from) * eased;
  }

  isMoving(nowMs: number): boolean {
    return this.valueAt(nowMs) !== this.#to;
  }
}
