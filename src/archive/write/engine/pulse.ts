import type { Timers } from "../../../lib/schedule/timers.ts";
import type { HelperPort, NativeWork } from "../../../runtime/helper/helper.ts";

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
