/** Lets so many pieces of work run at once; the others wait, first come, first served. */
export class Turns {
  readonly #runningMax: number;
  readonly #waiting: (() => void)[] = [];
  #running = 0;

  constructor(runningMax: number) {
    this.#runningMax = runningMax;
  }

  async run<Value>(work: () => Promise<Value>): Promise<Value> {
    if (this.#running < this.#runningMax) this.#running++;
    else await new Promise<void>((enter) => this.#waiting.push(enter)); // Who leaves hands its turn over.
    try {
      return await work();
    } finally {
      const enter = this.#waiting.shift();
      if (enter === undefined) this.#running--;
      else enter();
    }
  }
}
