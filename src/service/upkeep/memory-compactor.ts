import type { HotStore } from "../../hot/hot-store.ts";
import { nextTurn, type Timers } from "../../lib/schedule/timers.ts";
import type { Clock } from "../../model/time/clock.ts";

const INTERVAL_MS = 5 * 60 * 1000;
const AGE_MS_MIN = 60 * 60 * 1000;

/** Packs records in memory once they are an hour old, because later reports rarely change them. */
export class MemoryCompactor {
  readonly #hot: Pick<HotStore, "pack">;
  readonly #clock: Clock;
  readonly #timers: Timers;
  #cancelNext: () => void = () => undefined;
  #isOver = false;

  constructor(hot: Pick<HotStore, "pack">, clock: Clock, timers: Timers) {
    this.#hot = hot;
    this.#clock = clock;
    this.#timers = timers;
  }

  /** Packs immediately, because most replayed records are old enough. */
  start(): void {
    this.#wait(0);
  }

  stop(): void {
    this.#isOver = true;
    this.#cancelNext();
  }

  #wait(delayMs: number): void {
    this.#cancelNext = this.#timers.after(delayMs, async () => {
      await this.#pack();
      if (!this.#isOver) this.#wait(INTERVAL_MS);
    });
  }

  /** Takes one step in each turn of the event loop. */
  async #pack(): Promise<void> {
    for (const _ of this.#hot.pack(this.#clock.nowMs() - AGE_MS_MIN)) {
      await nextTurn();
      if (this.#isOver) return;
    }
  }
}
