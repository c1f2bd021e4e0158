import { grown } from "../lib/tables/columns.ts";

/** What a search collects: the positions of a ring around its center, and their order. */

const ENTRIES_INITIAL = 1024;
/** Of more, it is looked at first between which two they are. */
const GUESSED_MAX = 4096;
/** Below so many, moving each to where it belongs beats splitting further. */
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
  /** Where each bin of the range of chords ends in that order. */
  #ends = new Uint32Array(2 * ENTRIES_INITIAL);

  /** Makes room for so many more. */
  reserve(more: number): void {
    const needed = this.count + more;
    if (needed <= this.chords.length) return;
    this.chords = grown(this.chords, needed);
    this.rows = grown(this.rows, needed);
    const { length } = this.chords;
    this.order = new Uint32Array(length);
    this.sorted = new Float64Array(length);
    this.#ends = new Uint32Array(2 * length);
  }

  /**
   * Orders them by chord, which all lie between two. Squared chords of a city are spread about evenly, as areas are:
   * as many bins of their range as entries bring nearly all to where they belong at once.
   */
  sort(lowest: number, highest: number): void {
    if (this.count <= GUESSED_MAX && this.#sortByBins(lowest, highest)) return;
    // Not spread at all evenly: perhaps all are at one point, or far away.
    const { chords, count } = this;
    let least = highest;
    let most = lowest;
    for (let entry = 0; entry < count; entry++) {
      const chord = chords[entry]!;
      if (chord < least) least = chord;
      if (chord > most) most = chord;
    }
    if (least === most) {
      this.#keepOrder();
      return;
    }
    if (this.#sortByBins(least, most)) return;
    this.#sortCrowded();
    this.#insert();
  }

  /** Returns whether no bin was crowded, or else leaves entries unordered within their bins. */
  #sortByBins(lowest: number, highest: number): boolean {
    const { count, chords, order, sorted } = this;
    const ends = this.#ends;
    const bins = 2 * count;
    const scale = highest > lowest ? (bins - 1) / (highest - lowest) : 0;
    ends.fill(0, 0, bins);
    for (let entry = 0; entry < count; entry++) ends[((chords[entry]! - lowest) * scale) | 0]!++;
    let end = 0;
    let most = 0;
    for (let bin = 0; bin < bins; bin++) {
      const size = ends[bin]!;
      if (size > most) most = size;
      ends[bin] = end; // Where it begins, until its entries move it to its end.
      end += size;
    }
    for (let entry = 0; entry < count; entry++) {
      const chord = chords[entry]!;
      const at = ends[((chord - lowest) * scale) | 0]!++;
      order[at] = entry;
      sorted[at] = chord;
    }
    if (most > SPLIT_MIN) return false;
    this.#insert();
    return true;
  }

  /** All are at one distance. */
  #keepOrder(): void {
    const { order, sorted, chords, count } = this;
    for (let entry = 0; entry < count; entry++) order[entry] = entry;
    sorted.set(chords.subarray(0, count));
  }

  /** Orders the bins that many entries are in, where they are not spread evenly. */
  #sortCrowded(): void {
    const ends = this.#ends;
    let start = 0;
    for (let bin = 0; start < this.count; bin++) {
      const end = ends[bin]!;
      if (end - start > SPLIT_MIN && !this.#isOneDistance(start, end)) this.#sort(start, end - 1);
      start = end;
    }
  }

  #isOneDistance(start: number, end: number): boolean {
    const { sorted } = this;
    for (let rank = start + 1; rank < end; rank++) if (sorted[rank] !== sorted[start]) return false;
    return true;
  }

  /** Quicksort by the middle entry, as Hoare has it: equal chords, of which there may be thousands, split evenly. */
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

  /** Moves each to where it belongs, which is near. */
  #insert(): void {
    const { sorted, order, count } = this;
    for (let next = 1; next < count; next++) {
      const chord = sorted[next]!;
      if (chord >= sorted[next - 1]!) continue;
      const entry = order[next]!;
      let at = next;
      do {
        sorted[at] = sorted[at - 1]!;
        order[at] = order[at - 1]!;
        at--;
      } while (at > 0 && sorted[at - 1]! > chord);
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
