import type { Scheduler } from "../../lib/schedule/scheduler.ts";
import type { Steps } from "../../lib/schedule/steps.ts";
import { nextTurn } from "../../lib/schedule/timers.ts";

/** The rate of events. */
export interface Pace {
  /** The least time between two events of a viewer. */
  readonly restMs: number;
  /** A multiple of the time spent on all viewers of the app that they pause, which limits their share of a core. */
  readonly restTimes: number;
}

/** Four events a second look like motion. An app's viewers may use a fifth of a core. */
export const PACE: Pace = { restMs: 250, restTimes: 4 };

export interface RoundsOptions {
  readonly scheduler: Scheduler;
  readonly pace: Pace;
  /** The owner of the time that viewers take. */
  readonly owner: string;
  /** Whether a viewer waits for something that there is. */
  isAnyBehind(): boolean;
  /** Tells all viewers. */
  tellInSteps(): Steps<void>;
}

/** Rounds in which all viewers of an app are told, at a pace, for as long as there is something to tell. */
export class Rounds {
  readonly #options: RoundsOptions;
  #areUnderWay = false;
  /** When the next round may begin. */
  #dueMs = 0;
  /** Time spent on viewers since `#dueMs` was set. */
  #spentMs = 0;

  constructor(options: RoundsOptions) {
    this.#options = options;
  }

  get areUnderWay(): boolean {
    return this.#areUnderWay;
  }

  /** Begins, unless rounds are under way or no viewer is behind. */
  begin(): void {
    if (!this.#areUnderWay && this.#options.isAnyBehind()) void this.#tellAll();
  }

  /** Counts the time of work for a viewer, in or between rounds. */
  spend(work: () => void): void {
    const begunMs = performance.now();
    work();
    this.#spentMs += performance.now() - begunMs;
  }

  async #tellAll(): Promise<void> {
    const { scheduler, pace, owner } = this.#options;
    const { restMs, restTimes } = pace;
    this.#areUnderWay = true;
    do {
      const leftMs = this.#dueMs - performance.now();
      await (leftMs > 0 ? new Promise((resolve) => setTimeout(resolve, leftMs)) : nextTurn());
      const begunMs = performance.now();
      await scheduler.run(owner, this.#options.tellInSteps());
      this.#dueMs = begunMs + Math.max(restMs, restTimes * this.#spentMs);
      this.#spentMs = 0;
    } while (this.#options.isAnyBehind());
    this.#areUnderWay = false;
  }
}
