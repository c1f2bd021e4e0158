import { mayBeSwapped } from "./squared-chord.ts";

const ENTRIES_INITIAL = 1024;
/** Below so many, putting each in its place beats splitting further. */
const SPLIT_MIN = 16;

/**
 * Positions between two distances, in columns that are used again by each search: they grow to as many as were ever
 * at nearly one distance.
 */
export class PositionRing {
  count = 0;
  /** As they came: squared chords from the center, and which rows those are of. */
  chords = new Float64Array(ENTRIES_INITIAL);
  rows = new Uint32Array(ENTRIES_INITIAL);
  /** Once sorted: numbers of entries in order of chords, and those chords. */
  order = new Uint32Array(ENTRIES_INITIAL);
  sorted = new Float64Array(ENTRIES_INITIAL);
  /** Where each part of the range of chords ends in that order. */
  #ends = new Uint32Array(ENTRIES_INITIAL);

  /** Makes room for so many more. */
  reserve(more: number): void {
    const needed = this.count + more;
    if (needed <= this.chords.length) return;
    const length = Math.max(needed, 2 * this.chords.length);
    this.chords = copied(this.chords, new Float64Array(length));
    this.rows = copied(this.rows, new Uint32Array(length));
    this.order = new Uint32Array(length);
    this.sorted = new Float64Array(length);
    this.#ends = new Uint32Array(length);
  }

  /**
   * Orders them by chord. Squared chords of a city are spread about evenly, as areas are: one part of their range
   * for each puts nearly all in their places at once.
   */
  sort(): void {
    const { count, chords, order, sorted } = this;
    const ends = this.#ends;
    let lowest = Number.POSITIVE_INFINITY;
    let highest = 0;
    for (let entry = 0; entry < count; entry++) {
      const chord = chords[entry]!;
      if (chord < lowest) lowest = chord;
      if (chord > highest) highest = chord;
    }
    const scale = highest > lowest ? (count - 1) / (highest - lowest) : 0;
    ends.fill(0, 0, count);
    for (let entry = 0; entry < count; entry++) ends[((chords[entry]! - lowest) * scale) >>> 0]!++;
    let end = 0;
    let most = 0;
    for (let part = 0; part < count; part++) {
      const size = ends[part]!;
      if (size > most) most = size;
      ends[part] = end; // Where it begins, until its entries move it to its end.
      end += size;
    }
    for (let entry = 0; entry < count; entry++) {
      const chord = chords[entry]!;
      const at = ends[((chord - lowest) * scale) >>> 0]!++;
      order[at] = entry;
      sorted[at] = chord;
    }
    if (scale === 0) return;
    if (most > SPLIT_MIN) this.#sortCrowded();
    this.#insert(0, count - 1);
  }

  /** Whether rounding may have swapped an entry and the next, in order of chords. */
  isTie(place: number): boolean {
    const chord = this.sorted[place + 1]!;
    return mayBeSwapped(this.sorted[place]!, chord);
  }

  /** Orders the parts that many entries are in, where they are not spread evenly. */
  #sortCrowded(): void {
    const ends = this.#ends;
    let start = 0;
    for (let part = 0; start < this.count; part++) {
      const end = ends[part]!;
      if (end - start > SPLIT_MIN) this.#sort(start, end - 1);
      start = end;
    }
  }

  /** Quicksort by the middle entry, as C. A. R. Hoare has it: equal chords, of which there may be thousands, split evenly. */
  #sort(first: number, last: number): void {
    const { sorted } = this;
    let low = first;
    let high = last;
    while (high - low >= SPLIT_MIN) {
      const pivot = sorted[(low + high) >>> 1]!;
      let left = low - 1;
      let right = high + 1;
      for (;;) {
        do left++;
        while (sorted[left]! < pivot);
        do right--;
        while (sorted[right]! > pivot);
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
  }

  /** Puts each in its place, which is near. */
  #insert(first: number, last: number): void {
    const { sorted, order } = this;
    let before = sorted[first]!;
    for (let next = first + 1; next <= last; next++) {
      const chord = sorted[next]!;
      if (chord >= before) {
        before = chord;
        continue;
      }
      const entry = order[next]!;
      let at = next;
      for (; at > first && sorted[at - 1]! > chord; at--) {
        sorted[at] = sorted[at - 1]!;
        order[at] = order[at - 1]!;
      }
      sorted[at] = chord;
      order[at] = entry;
    }
  }

  #swap(a: number, b: number): void {
    const { sorted, order } = this;
    const chord = sorted[a]!;
    const entry = order[a]!;
    sorted[a] = sorted[b]!;
    order[a] = order[b]!;
    sorted[b] = chord;
    order[b] = entry;
  }
}

function copied<Column extends Float64Array | Uint32Array>(from: Column, to: Column): Column {
  to.set(from);
  return to;
}
