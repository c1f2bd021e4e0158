import type { Timers } from "../../lib/schedule/timers.ts";
import type { HelperPort, NativeWork } from "./helper.ts";

/** How often a helper checks whether it has made progress. */
export const LOOK_MS = 15_000;

/**
 * The share of a core above which a process counts as working. A process that waits for a disk uses at most a third of
 * this, for timers and garbage collection; a working one uses more, even if a hundred processes compete for the core.
 */
const WORKING_SHARE = 0.002;

/** Reports every few seconds that the helper makes progress: not that it is alive, but that its statements advance. */
export class Pulse {
  readonly #work: HelperPort["work"];
  readonly #timers: Timers;
  readonly #onWork: () => void;
  #before!: NativeWork;
  #beforeMs = 0;

  constructor(work: HelperPort["work"], timers: Timers, onWork: () => void) {
    this.#work = work;
    this.#timers = timers;
    this.#onWork = onWork;
    this.beginAnew();
    timers.after(LOOK_MS, () => this.#look());
  }

  /** Counts progress from now on. */
  beginAnew(): void {
    this.#before = this.#work();
    this.#beforeMs = this.#timers.nowMs();
  }

  #look(): void {
    const { cpuMs, diskBlocks } = this.#work();
    const idleMs = (this.#timers.nowMs() - this.#beforeMs) * WORKING_SHARE;
    if (cpuMs - this.#before.cpuMs > idleMs || diskBlocks > this.#before.diskBlocks) {
      this.beginAnew();
      this.#onWork();
    }
    this.#timers.after(LOOK_MS, () => this.#look());
  }
}

/** How long a helper may make no progress on a request. */
export const STILL_MINUTES = 3;
const WATCH_MS = 10_000;
const STILL_LOOKS_MAX = (STILL_MINUTES * 60_000) / WATCH_MS;

/**
 * Watches a helper from its parent process, which ends a helper that is stopped or whose disk hangs. It counts checks
 * instead of time, since time passes for both while the machine sleeps.
 */
export class PulseWatch {
  readonly #timers: Timers;
  readonly #isBusy: () => boolean;
  readonly #onStill: () => void;
  /** Consecutive checks without a sign of progress on a request. */
  #stillLooks = 0;
  #cancelLook!: () => void;

  /** `isBusy` tells whether the helper has a request to work on. `onStill` is called once and ends the watch. */
  constructor(timers: Timers, isBusy: () => boolean, onStill: () => void) {
    this.#timers = timers;
    this.#isBusy = isBusy;
    this.#onStill = onStill;
    this.#lookLater();
  }

  /** The helper has reported progress. */
  note(): void {
    this.#stillLooks = 0;
  }

  stop(): void {
    this.#cancelLook();
  }

  #lookLater(): void {
    this.#cancelLook = this.#timers.after(WATCH_MS, () => {
      this.#stillLooks = this.#isBusy() ? this.#stillLooks + 1 : 0;
      if (this.#stillLooks > STILL_LOOKS_MAX) this.#onStill();
      else this.#lookLater();
    });
  }
}
