import type { HotStore } from "../../hot/hot-store.ts";
import type { Timers } from "../../lib/schedule/timers.ts";
import type { Clock } from "../../model/time/clock.ts";
import { MS_PER_MINUTE, MS_PER_SECOND } from "../../model/time/units.ts";
import { watchClockEntry } from "../../model/watches/watch-clock-entry.ts";
import type { StandingAppend } from "../ingest/standing-append.ts";

const TICK_MS = 10 * MS_PER_SECOND;
/** Phones have this long to send what they kept while no reports were taken. */
const HOLD_MS = 10 * MS_PER_MINUTE;
/** A process whose last tick is longer ago was stopped. */
const GAP_MS = MS_PER_MINUTE;

export interface WatchClockDependencies {
  readonly hot: Pick<HotStore, "watches">;
  readonly append: StandingAppend;
  readonly clock: Clock;
  readonly timers: Timers;
}

/**
 * Moves the clock of timed events, by entries of the log, so that each replay and each node decides alike. It follows
 * the time of day while reports are taken, and stands still for some minutes after each time that they were not: what
 * devices send late then is no silence. Of several nodes, the one that publishes events moves it.
 */
export class WatchClock {
  readonly #dependencies: WatchClockDependencies;
  #cancelNext = () => {};
  #holdUntilMs = 0;
  #tickedMs: number;
  #ticking: Promise<void> = Promise.resolve();
  #isOver = false;

  constructor(dependencies: WatchClockDependencies) {
    this.#dependencies = dependencies;
    this.#tickedMs = dependencies.timers.nowMs();
  }

  start(): void {
    this.#hold();
    this.#isOver = false;
    this.#wait();
  }

  /** Goes on for another node of a cluster, as if it were that one, unless no node has moved the clock for a while. */
  takeOver(): void {
    const { clock, hot, timers } = this.#dependencies;
    if (clock.nowMs() - hot.watches.clockMs > GAP_MS) this.#hold();
    else this.#holdUntilMs = timers.nowMs();
    this.#isOver = false;
    this.#wait();
  }

  async stop(): Promise<void> {
    this.#isOver = true;
    this.#cancelNext();
    await this.#ticking;
  }

  #hold(): void {
    this.#holdUntilMs = this.#dependencies.timers.nowMs() + HOLD_MS;
  }

  #wait(): void {
    this.#tickedMs = this.#dependencies.timers.nowMs();
    this.#cancelNext = this.#dependencies.timers.after(TICK_MS, () => {
      this.#ticking = this.#tick().finally(() => {
        if (!this.#isOver) this.#wait();
      });
    });
  }

  async #tick(): Promise<void> {
    const { hot, append, clock, timers } = this.#dependencies;
    if (timers.nowMs() - this.#tickedMs > GAP_MS) this.#hold();
    const atMs = clock.nowMs();
    const { needsClock, clockMs } = hot.watches;
    if (!needsClock || timers.nowMs() < this.#holdUntilMs || atMs - clockMs < TICK_MS) return;
    const appended = await append(watchClockEntry(atMs));
    if (!appended.ok) this.#hold();
  }
}
