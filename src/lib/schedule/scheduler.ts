import { FairQueue } from "./fair-queue.ts";
import type { MaybePromise } from "./maybe-promise.ts";
import type { Steps } from "./steps.ts";
import { nextTurn } from "./timers.ts";

/** Time per turn of the event loop for all long work together. A step that has begun may exceed it. */
const TURN_MS = 5;
/** The part of it for one owner before the next: for one long task, or several short ones. */
const SLICE_MS = 2;
/** What an urgent task gets immediately even if others wait: enough for short work. */
const SHORT_SLICE_MS = 0.25;

/** Work that continues in a later turn of the event loop. */
interface Task {
  readonly steps: Steps<unknown>;
  /** Null for work that is done even if no caller waits for it. */
  readonly signal: AbortSignal | null;
  resolve(value: unknown): void;
  reject(error: unknown): void;
}

/**
 * Divides the event loop's time among long work (cooperative multitasking). Short work is done immediately. Long work
 * gets slices of time, in turns by owner (round robin), so a busy owner delays only its own work. A process has one
 * scheduler, since it has one event loop.
 */
export class Scheduler {
  readonly #waiting = new FairQueue<string, Task>();
  readonly #nowMs: () => number;
  /** Time spent in this turn of the event loop, and in preceding turns with little work. */
  #spentMs = 0;
  #isTakingTurns = false;

  constructor(nowMs = () => performance.now()) {
    this.#nowMs = nowMs;
  }

  /**
   * Runs work whose steps take up to some milliseconds, after all that waits. Works of one owner begin in order; those
   * of a single step also end in order.
   */
  async run<Value>(owner: string, steps: Steps<Value>): Promise<Value> {
    if (this.#waiting.size === 0 && this.#spentMs < TURN_MS) {
      const first = this.#runFor(steps, TURN_MS - this.#spentMs);
      if (first.done === true) return first.value;
    }
    return this.#wait(owner, steps, null, asIs);
  }

  /**
   * Runs work whose steps take some 0.1 ms. At least one step runs immediately, even if others wait: Bun closes
   * connections whose pipelined answers come later. Throws, or rejects, with the signal's reason once it aborts. If the
   * value is returned by a promise, its caller sees it later than the last step; `lasting` then makes the value valid
   * for longer.
   */
  runAtOnce<Value>(
    owner: string,
    signal: AbortSignal | null,
    steps: Steps<Value>,
    lasting: (value: Value) => Value = asIs,
  ): MaybePromise<Value> {
    const leftMs = TURN_MS - this.#spentMs;
    const first = this.#runFor(steps, this.#waiting.size === 0 ? leftMs : Math.min(leftMs, SHORT_SLICE_MS));
    if (first.done === true) return first.value;
    return this.#wait(owner, steps, signal, lasting);
  }

  #wait<Value>(
    owner: string,
    steps: Steps<Value>,
    signal: AbortSignal | null,
    lasting: (value: Value) => Value,
  ): Promise<Value> {
    return new Promise((resolve, reject) => {
      const task = { steps, signal, resolve: (value: Value) => resolve(lasting(value)), reject };
      this.#waiting.add(owner, task as Task);
      if (!this.#isTakingTurns) void this.#takeTurns();
    });
  }

  /** Runs at least one step, and no more once the time is up. */
  #runFor<Value>(steps: Steps<Value>, ms: number): IteratorResult<void, Value> {
    const startedMs = this.#nowMs();
    try {
      for (;;) {
        const step = steps.next();
        if (step.done === true || this.#nowMs() - startedMs >= ms) return step;
      }
    } finally {
      this.#spend(this.#nowMs() - startedMs);
    }
  }

  /** Counts time, because many short pieces of work in one turn add up to a long one. */
  #spend(ms: number): void {
    this.#spentMs += ms;
    if (!this.#isTakingTurns && this.#isTurnDue()) void this.#takeTurns();
  }

  #isTurnDue(): boolean {
    return this.#waiting.size > 0 || this.#spentMs >= TURN_MS / 2;
  }

  async #takeTurns(): Promise<void> {
    this.#isTakingTurns = true;
    do {
      await nextTurn(TURN_MS);
      this.#spentMs = 0;
      while (this.#waiting.size > 0 && this.#spentMs < TURN_MS) this.#giveSlice(...this.#waiting.take()!);
    } while (this.#isTurnDue());
    this.#isTakingTurns = false;
  }

  /**
   * Gives the owner a slice, not just one task: an owner of many short tasks would get little time beside one long
   * task.
   */
  #giveSlice(owner: string, first: Task): void {
    const endMs = this.#spentMs + SLICE_MS;
    for (let task: Task | null = first; task !== null; ) {
      this.#proceed(owner, task, endMs - this.#spentMs);
      task = this.#spentMs < endMs ? this.#waiting.takeOf(owner) : null;
    }
  }

  #proceed(owner: string, task: Task, ms: number): void {
    try {
      if (task.signal?.aborted === true) task.steps.return(undefined); // Runs its `finally` blocks.
      task.signal?.throwIfAborted();
      const { done, value } = this.#runFor(task.steps, ms);
      if (done === true) task.resolve(value);
      else this.#waiting.add(owner, task);
    } catch (error) {
      task.reject(error);
    }
  }
}

function asIs<Value>(value: Value): Value {
  return value;
}
