import { FairQueue } from "./fair-queue.ts";
import type { MaybePromise } from "./maybe-promise.ts";
import type { Steps } from "./steps.ts";
import { nextTurn } from "./timers.ts";

/**
 * Of one turn of the event loop, for all long work together. A step that was begun before it is over may take longer.
 */
const TURN_MS = 5;
/** Of that, an owner's before another has its turn: of one long task, or of as many short ones. */
const SLICE_MS = 2;
/** What a task that can't wait takes at once where others are waiting: enough for what is short. */
const SHORT_SLICE_MS = 0.25;

/** Work that goes on in a later turn of the event loop. */
interface Task {
  readonly steps: Steps<unknown>;
  /** Null for work that is done whether or not anybody waits for it. */
  readonly signal: AbortSignal | null;
  resolve(value: unknown): void;
  reject(error: unknown): void;
}

/**
 * The event loop's time for work that would hold it if it were done at once (cooperative multitasking). What is short
 * is done at once. What is long gets slices of time, owners by turns (round robin), so whoever has much to do waits for
 * himself. One scheduler serves all of a process, since the event loop is one too.
 */
export class Scheduler {
  readonly #waiting = new FairQueue<string, Task>();
  readonly #nowMs: () => number;
  /** Of this turn of the event loop, and of turns before it in which there was little to do. */
  #spentMs = 0;
  #isTakingTurns = false;

  constructor(nowMs = () => performance.now()) {
    this.#nowMs = nowMs;
  }

  /**
   * Does work whose steps take up to some milliseconds, behind all that waits. That of an owner begins in the order it
   * came in; so what is one step each ends in that order too.
   */
  async run<Value>(owner: string, steps: Steps<Value>): Promise<Value> {
    if (this.#waiting.size === 0 && this.#spentMs < TURN_MS) {
      const first = this.#runFor(steps, TURN_MS - this.#spentMs);
      if (first.done === true) return first.value;
    }
    return this.#wait(owner, steps, null, asIs);
  }

  /**
   * Does work whose steps take some 0.1 ms, beginning with one at least even where others wait: Bun closes connections
   * whose pipelined answers come later. Throws, or rejects, with the signal's reason once that comes. What happens
   * between two steps, the work sees; `lasting` makes of its value what is still good when a promise of it is heard.
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

  /** One step at least, and no other once the time is over. */
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

  /** Many short pieces of work that come at once must not be one long piece. */
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

  /** One task for each owner would leave who has many short ones next to no time beside who has a long one. */
  #giveSlice(owner: string, first: Task): void {
    const endMs = this.#spentMs + SLICE_MS;
    for (let task: Task | null = first; task !== null; ) {
      this.#proceed(owner, task, endMs - this.#spentMs);
      task = this.#spentMs < endMs ? this.#waiting.takeOf(owner) : null;
    }
  }

  #proceed(owner: string, task: Task, ms: number): void {
    try {
      if (task.signal?.aborted === true) task.steps.return(undefined); // So that it can tidy up.
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
