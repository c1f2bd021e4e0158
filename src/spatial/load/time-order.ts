/** Puts a leaf's devices in order of time. */

/** Sorts runs of devices by their times, those of one time as they were, by merging halves. */
export class TimeOrder {
  readonly #timesMs: Float64Array;
  #from: Uint32Array;
  #to: Uint32Array;

  /** Milliseconds by device number, for runs of so many devices at most at first. */
  constructor(timesMs: Float64Array, runMax: number) {
    this.#timesMs = timesMs;
    this.#from = new Uint32Array(runMax);
    this.#to = new Uint32Array(runMax);
  }

  /** The devices from `start` to before `end` in order; until the next are asked for. */
  of(devices: Uint32Array, start: number, end: number): Uint32Array {
    const count = end - start;
    if (count > this.#from.length) {
      this.#from = new Uint32Array(count);
      this.#to = new Uint32Array(count);
    }
    for (let at = 0; at < count; at++) this.#from[at] = devices[start + at]!;
    for (let width = 1; width < count; width *= 2) {
      for (let low = 0; low < count; low += 2 * width) {
        this.#merge(low, Math.min(low + width, count), Math.min(low + 2 * width, count));
      }
      [this.#from, this.#to] = [this.#to, this.#from];
    }
    return this.#from;
  }

  /** Merges what lies from `low` to before `middle`, and from there to before `high`. */
  #merge(low: number, middle: number, high: number): void {
    const [from, to, timesMs] = [this.#from, this.#to, this.#timesMs];
    let [left, right] = [low, middle];
    for (let at = low; at < high; at++) {
      const isLeft = right === high || (left < middle && timesMs[from[left]!]! <= timesMs[from[right]!]!);
      to[at] = from[isLeft ? left++ : right++]!;
    }
  }
}
