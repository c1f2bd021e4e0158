import { grown } from "../lib/tables/columns.ts";

const ENTRIES_INITIAL = 1024;
/** If there are more entries, the actual range of chords is determined first. */
const GUESSED_MAX = 4096;
/** Shorter runs are sorted by insertion. */
const SPLIT_MIN = 16;

/**
 * Positions between two distances from a center, in columns that the next search reuses. The columns grow to the
 * largest number of positions ever collected.
 */
export class PositionRing {
  count = 0;
  /** Entries as collected: squared chords from the center, and the rows they belong to. */
  chords = new Float64Array(ENTRIES_INITIAL);
  rows = new Uint32Array(ENTRIES_INITIAL);
  /** After `sort()`: the numbers of entries in order of their chords, and those chords. */
  order = new Uint32Array(ENTRIES_INITIAL);
  sorted = new Float64Array(ENTRIES_INITIAL);
  /** The end of each bin in that order. */
  #ends = new Uint32Array(2 * ENTRIES_INITIAL);

  /** Makes room for `more` entries. */
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
   * Sorts the entries by chord; all chords must lie between the two. In a city, squared chords are spread about evenly,
   * like areas, so with twice as many bins as entries nearly all entries fall into place.
   */
  sort(lowest: number, highest: number): void {
    if (this.count <= GUESSED_MAX && this.#sortByBins(lowest, highest)) return;
    // The chords are not spread evenly: perhaps all are at one point, or far away.
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

  /** Distributes the entries over bins. Returns false if a bin is crowded, whose entries are then still unsorted. */
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
      ends[bin] = end; // The start of the bin; adding its entries advances it to the end.
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

  /** Sorts entries that are all at one distance. */
  #keepOrder(): void {
    const { order, sorted, chords, count } = this;
    for (let entry = 0; entry < count; entry++) order[entry] = entry;
    sorted.set(chords.subarray(0, count));
  }

  /** Sorts the crowded bins. */
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

  /** Quicksort with Hoare's partition: equal chords, of which there may be thousands, are split evenly. */
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
      // Recurses into the smaller half only, so the stack stays shallow.
      if (right - low < high - right) {
        this.#sort(low, right);
        low = right + 1;
      } else {
        this.#sort(right + 1, high);
        high = right;
      }
    }
  }

  /** Insertion sort; every entry is near its position. */
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
