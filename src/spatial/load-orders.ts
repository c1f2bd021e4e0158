import type { Steps } from "../lib/schedule/steps.ts";

const DIGIT_BITS = 11;
const DIGITS = 1 << DIGIT_BITS;
const DIGIT_MASK = DIGITS - 1;
const WORD_BITS = 32;
const WORD = 2 ** WORD_BITS;

/** Devices with the number of their finest cell, split into two words, in columns. */
export class CellOrder {
  devices: Uint32Array;
  #high: Uint32Array;
  #low: Uint32Array;
  #count = 0;

  constructor(devicesMax: number) {
    this.devices = new Uint32Array(devicesMax);
    this.#high = new Uint32Array(devicesMax);
    this.#low = new Uint32Array(devicesMax);
  }

  get count(): number {
    return this.#count;
  }

  add(device: number, cell: number): void {
    const at = this.#count++;
    this.devices[at] = device;
    this.#high[at] = cell / WORD;
    this.#low[at] = cell;
  }

  cellAt(at: number): number {
    return this.#high[at]! * WORD + this.#low[at]!;
  }

  /** Sorts by cell, stable, with a radix sort. */
  *sort(): Steps<void> {
    const count = this.#count;
    const others = new CellOrder(count);
    for (const isHigh of [false, true]) {
      for (let shift = 0; shift < WORD_BITS; shift += DIGIT_BITS) {
        const ends = this.#countDigits(isHigh ? this.#high : this.#low, shift);
        if (ends !== null) this.#spread(isHigh, shift, ends, others);
        yield;
      }
    }
  }

  /** Where the devices with each digit begin; null if all have the same digit. */
  #countDigits(words: Uint32Array, shift: number): Uint32Array | null {
    const count = this.#count;
    const begins = new Uint32Array(DIGITS);
    for (let at = 0; at < count; at++) begins[(words[at]! >>> shift) & DIGIT_MASK]!++;
    let begin = 0;
    for (let digit = 0; digit < DIGITS; digit++) {
      const digitCount = begins[digit]!;
      if (digitCount === count) return null;
      begins[digit] = begin;
      begin += digitCount;
    }
    return begins;
  }

  #spread(isHigh: boolean, shift: number, begins: Uint32Array, others: CellOrder): void {
    const [devices, high, low] = [this.devices, this.#high, this.#low];
    const [toDevices, toHigh, toLow] = [others.devices, others.#high, others.#low];
    const words = isHigh ? high : low;
    for (let at = 0; at < this.#count; at++) {
      const to = begins[(words[at]! >>> shift) & DIGIT_MASK]!++;
      toDevices[to] = devices[at]!;
      toHigh[to] = high[at]!;
      toLow[to] = low[at]!;
    }
    [this.devices, this.#high, this.#low] = [toDevices, toHigh, toLow];
    [others.devices, others.#high, others.#low] = [devices, high, low];
  }
}

/** Sorts runs of devices by their times with a stable merge sort. */
export class TimeOrder {
  readonly #timesMs: Float64Array;
  #from: Uint32Array;
  #to: Uint32Array;

  /** `timesMs` is by device number. `runMax` is the size of the first buffers, which grow. */
  constructor(timesMs: Float64Array, runMax: number) {
    this.#timesMs = timesMs;
    this.#from = new Uint32Array(runMax);
    this.#to = new Uint32Array(runMax);
  }

  /** The devices from `start` to before `end`, sorted; valid until the next call. */
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

  /** Merges the sorted runs from `low` to before `middle`, and from `middle` to before `high`. */
  #merge(low: number, middle: number, high: number): void {
    const [from, to, timesMs] = [this.#from, this.#to, this.#timesMs];
    let [left, right] = [low, middle];
    for (let at = low; at < high; at++) {
      const isLeft = right === high || (left < middle && timesMs[from[left]!]! <= timesMs[from[right]!]!);
      to[at] = from[isLeft ? left++ : right++]!;
    }
  }
}
