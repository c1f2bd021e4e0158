import { FairQueue } from "./fair-queue.ts";

/** Lets so many pieces of work run at once; the others wait, each owner's in their order and owners by turns. */
export class Semaphore {
  readonly #runningMax: number;
  readonly #waiting = new FairQueue<string, () => void>();
  #running = 0;

  constructor(runningMax: number) {
    this.#runningMax = runningMax;
  }

  async run<Value>(owner: string, work: () => Promise<Value>): Promise<Value> {
    if (this.#running < this.#runningMax) this.#running++;
    else await new Promise<void>((enter) => this.#waiting.add(owner, enter)); // Who leaves hands its turn over.
    try {
      return await work();
    } finally {
      const next = this.#waiting.take();
      if (next === null) this.#running--;
      else next[1]();
    }
  }
}
