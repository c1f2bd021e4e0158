import { roundingOf } from "./squared-chord.ts";

const ENTRIES_INITIAL = 1024;
/** Below so many, putting each in its place beats splitting further. */
const SPLIT_MIN = 16;

/** Devices between two distances, in columns that are used again by each search. */
export class PositionRing {
  /** Squared chords from the center, and the devices at them. */
  chords = new Float64Array(ENTRIES_INITIAL);
  devices = new Uint32Array(ENTRIES_INITIAL);
  count = 0;

  clear(): void {
    this.count = 0;
  }

  push(chord: number, device: number): void {
    if (this.count === this.chords.length) this.#grow();
    this.chords[this.count] = chord;
    this.devices[this.count] = device;
    this.count++;
  }

  #grow(): void {
    const chords = new Float64Array(2 * this.count);
    chords.set(this.chords);
    const devices = new Uint32Array(2 * this.count);
    devices.set(this.devices);
    this.chords = chords;
    this.devices = devices;
  }

  /** Orders them by chord. */
  sort(): void {
    this.#sort(0, this.count - 1);
  }

  /** From and to which entry a page lies, with all neighbours that rounding may have put on the wrong side of its ends. */
  around(skip: number, limit: number): readonly [from: number, to: number] {
    const { count } = this;
    let from = Math.min(skip, count);
    while (from > 0 && from < count && this.#isTie(from - 1)) from--;
    let to = Math.min(skip + limit, count);
    while (to > 0 && to < count && this.#isTie(to - 1)) to++;
    return [from, to];
  }

  /** Whether rounding may have swapped an entry and the next. */
  #isTie(entry: number): boolean {
    const chord = this.chords[entry + 1]!;
    return chord - this.chords[entry]! <= 2 * roundingOf(chord);
  }

  /** Quicksort by the middle entry, as C. A. R. Hoare has it: equal chords, of which there may be thousands, split evenly. */
  #sort(first: number, last: number): void {
    const { chords } = this;
    let low = first;
    let high = last;
    while (high - low >= SPLIT_MIN) {
      const pivot = chords[(low + high) >>> 1]!;
      let left = low - 1;
      let right = high + 1;
      for (;;) {
        do left++;
        while (chords[left]! < pivot);
        do right--;
        while (chords[right]! > pivot);
        if (left >= right) break;
        this.#swap(left, right);
      }
      // The smaller half by a call, the larger by going on: calls stay few.
      if (right - low < high - right) {
        this.#sort(low, right);
        low = right + 1;
      } else {
        this.#sort(right + 1, high);
        high = right;
      }
    }
    this.#insert(low, high);
  }

  #insert(first: number, last: number): void {
    const { chords, devices } = this;
    for (let next = first + 1; next <= last; next++) {
      const chord = chords[next]!;
      const device = devices[next]!;
      let at = next;
      for (; at > first && chords[at - 1]! > chord; at--) {
        chords[at] = chords[at - 1]!;
        devices[at] = devices[at - 1]!;
      }
      chords[at] = chord;
      devices[at] = device;
    }
  }

  #swap(a: number, b: number): void {
    const { chords, devices } = this;
    const chord = chords[a]!;
    const device = devices[a]!;
    chords[a] = chords[b]!;
    devices[a] = devices[b]!;
    chords[b] = chord;
    devices[b] = device;
  }
}
