import type { Timers } from "../lib/schedule/timers.ts";

/** Does something again and again, with a pause between: what takes long is not begun again meanwhile. */
export class Repeated {
  readonly #step: () => Promise<void>;
  readonly #pauseMs: number;
  readonly #timers: Timers;
  #cancel: (() => void) | null = null;
  #running: Promise<void> | null = null;
  #isStopped = false;

  /** `step` tells itself of what goes wrong. Begins at once. */
  constructor(step: () => Promise<void>, pauseMs: number, timers: Timers) {
    this.#step = step;
    this.#pauseMs = pauseMs;
    this.#timers = timers;
    this.#run();
  }

  /** Does it as soon as may be, where it is not under way. */
  now(): void {
    if (this.#running === null && !this.#isStopped) this.#run();
  }

  /** Waits for what is under way. */
  async stop(): Promise<void> {
    this.#isStopped = true;
    this.#cancel?.();
    await this.#running;
  }

  #run(): void {
    this.#cancel?.();
    this.#running = this.#step().finally(() => {
      this.#running = null;
      if (!this.#isStopped) this.#cancel = this.#timers.after(this.#pauseMs, () => this.#run());
    });
  }
}
