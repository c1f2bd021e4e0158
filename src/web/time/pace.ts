/** The used part of the browser's window, for tests. */
export interface PaceClock {
  now(): number;
  after(ms: number, run: () => void): void;
}

const PAGE_CLOCK: PaceClock = {
  now: () => performance.now(),
  after: (ms, run) => void setTimeout(run, ms),
};

/** The work takes at most this share of the time. */
const TIME_SHARE = 0.1;

/** Does work that follows many changes: soon, but with a pause in between, which is longer if the work is slow. */
export class Pace {
  readonly #run: () => void;
  readonly #pauseMs: number;
  readonly #clock: PaceClock;
  #isWaiting = false;
  #nextMs = 0;

  constructor(run: () => void, pauseMs: number, clock: PaceClock = PAGE_CLOCK) {
    this.#run = run;
    this.#pauseMs = pauseMs;
    this.#clock = clock;
  }

  /** Runs the work once the pause is over. */
  soon(): void {
    if (this.#isWaiting) return;
    this.#isWaiting = true;
    this.#clock.after(Math.max(0, this.#nextMs - this.#clock.now()), () => {
      this.#isWaiting = false;
      const startMs = this.#clock.now();
      this.#nextMs = startMs + this.#pauseMs; // Before the work, which may want to be run again.
      this.#run();
      const endMs = this.#clock.now();
      this.#nextMs = Math.max(startMs + this.#pauseMs, endMs + (endMs - startMs) / TIME_SHARE);
    });
  }
}
