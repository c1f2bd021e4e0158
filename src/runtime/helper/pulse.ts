import type { Timers } from "../../lib/schedule/timers.ts";
import type { HelperPort, NativeWork } from "./helper.ts";

/** How often a helper looks whether it has worked. */
export const LOOK_MS = 15_000;

/**
 * The share of a core that is work. A process that waits for a disk takes a third of it at most, for timers and garbage
 * collection; one that works has more of it, even where a hundred others want the same core.
 */
const WORKING_SHARE = 0.002;

/** Says every few seconds that the process works: not that it is there, but that statements get on. */
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

  /** Work from here on counts. */
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

/** How long a helper may do nothing while something is asked of it. */
export const STILL_MINUTES = 3;
const WATCH_MS = 10_000;
const STILL_LOOKS_MAX = (STILL_MINUTES * 60_000) / WATCH_MS;

/**
 * Watches a helper from the process that began it, which ends one that was stopped or hangs with its disk. Looks are
 * counted and not time, which passes for both if the machine sleeps.
 */
export class PulseWatch {
  readonly #timers: Timers;
  readonly #isAsked: () => boolean;
  readonly #onStill: () => void;
  /** Looks in a row at which something was asked of it and it had said nothing. */
  #stillLooks = 0;
  #cancelLook!: () => void;

  /** `isAsked` tells whether it is the helper's turn to do something; `onStill` is called once, and ends the watch. */
  constructor(timers: Timers, isAsked: () => boolean, onStill: () => void) {
    this.#timers = timers;
    this.#isAsked = isAsked;
    this.#onStill = onStill;
    this.#lookLater();
  }

  /** The helper has said something. */
  note(): void {
    this.#stillLooks = 0;
  }

  stop(): void {
    this.#cancelLook();
  }

  #lookLater(): void {
    this.#cancelLook = this.#timers.after(WATCH_MS, () => {
      this.#stillLooks = this.#isAsked() ? this.#stillLooks + 1 : 0;
      if (this.#stillLooks > STILL_LOOKS_MAX) this.#onStill();
      else this.#lookLater();
    });
  }
}
