import { FairQueue } from "./fair-queue.ts";
import { nextTurn } from "./next-turn.ts";

/** Of one turn of the event loop, for all long work together. A step that was begun before it is over may take longer. */
const TURN_MS = 5;

/** Long work in steps: a generator that yields after each few milliseconds, and returns what it made. */
export type Steps<Value> = Generator<void, Value>;

/** Work that can't be cut, as long as it is short enough by itself. */
// biome-ignore lint/correctness/useYield: it is one step.
export function* inOneStep<Value>(work: () => Value): Steps<Value> {
  return work();
}

interface Run {
  readonly steps: Steps<unknown>;
  resolve(value: unknown): void;
  reject(error: unknown): void;
}

/**
 * The event loop's time for work that would hold it if it were done at once. Owners take steps in turns, so that who
 * has much to do waits for himself: what is short is done at once, or after one step of each of the others.
 */
export class LoopShare {
  readonly #waiting = new FairQueue<string, Run>();
  /** Since somebody last had to wait; only then a turn of the loop is asked for. */
  #spentMs = 0;
  readonly #nowMs: () => number;

  constructor(nowMs = () => performance.now()) {
    this.#nowMs = nowMs;
  }

  /** Takes all steps. Those of an owner that are asked for one after the other begin, and single ones end, in that order. */
  async run<Value>(owner: string, steps: Steps<Value>): Promise<Value> {
    if (this.#waiting.size === 0) {
      const startedMs = this.#nowMs();
      const leftMs = TURN_MS - this.#spentMs;
      for (let elapsedMs = 0; elapsedMs < leftMs; ) {
        const { done, value } = steps.next();
        elapsedMs = this.#nowMs() - startedMs;
        if (done === true) {
          this.#spentMs += elapsedMs;
          return value;
        }
      }
      void this.#takeTurns();
    }
    return new Promise<Value>((resolve, reject) => {
      this.#waiting.add(owner, { steps, resolve: resolve as Run["resolve"], reject });
    });
  }

  async #takeTurns(): Promise<void> {
    do {
      await nextTurn(TURN_MS);
      this.#spentMs = 0;
      const startedMs = this.#nowMs();
      while (this.#spentMs < TURN_MS && this.#waiting.size > 0) {
        this.#step(...this.#waiting.take()!);
        this.#spentMs = this.#nowMs() - startedMs;
      }
    } while (this.#waiting.size > 0);
  }

  #step(owner: string, run: Run): void {
    try {
      const { done, value } = run.steps.next();
      if (done === true) run.resolve(value);
      else this.#waiting.add(owner, run);
    } catch (error) {
      run.reject(error);
    }
  }
}
