import { assert } from "../../lib/assert.ts";

/** Sorted instants, Unix ms, with the owner of each; equal instants are sorted by owner. */
export interface OwnedInstants {
  readonly times: Float64Array;
  readonly owners: Uint32Array;
}

/** The longest time between two instants of a block, which are stored as 32 bits from its first: 49 days. */
const SPAN_MS_MAX = 0xffff_ffff;

let blockCount = 0;

/** Some instants with their owners, packed: 4 bytes each, or 8 if owners differ. It never changes. */
export class InstantBlock {
  readonly count: number;
  /** Greater than that of any block before it. */
  readonly number = ++blockCount;
  readonly firstMs: number;
  /** The times since the first one, then the owners, unless all are the same. */
  readonly #words: Uint32Array;
  readonly #owner: number;

  /** At least one, within `SPAN_MS_MAX`. */
  constructor({ times, owners }: OwnedInstants) {
    this.count = times.length;
    this.firstMs = times[0]!;
    this.#owner = owners[0]!;
    assert(times[times.length - 1]! - this.firstMs <= SPAN_MS_MAX, "times of a block are near each other");
    const isOfOne = owners.every((owner) => owner === this.#owner);
    this.#words = new Uint32Array(isOfOne ? this.count : 2 * this.count);
    for (let row = 0; row < this.count; row++) this.#words[row] = times[row]! - this.firstMs;
    if (!isOfOne) this.#words.set(owners, this.count);
  }

  get lastMs(): number {
    return this.timeAt(this.count - 1);
  }

  get lastOwner(): number {
    return this.ownerAt(this.count - 1);
  }

  timeAt(row: number): number {
    return this.firstMs + this.#words[row]!;
  }

  ownerAt(row: number): number {
    return this.#words.length === this.count ? this.#owner : this.#words[this.count + row]!;
  }

  /** A copy. */
  unpack(): OwnedInstants {
    const times = new Float64Array(this.count);
    const owners = new Uint32Array(this.count);
    for (let row = 0; row < this.count; row++) {
      times[row] = this.timeAt(row);
      owners[row] = this.ownerAt(row);
    }
    return { times, owners };
  }

  /** Whether all instants are before one with an owner. */
  isBefore(timeMs: number, owner: number): boolean {
    const { lastMs } = this;
    return lastMs < timeMs || (lastMs === timeMs && this.lastOwner < owner);
  }

  /** How many instants are before one with an owner. */
  countBefore(timeMs: number, owner: number): number {
    let low = 0;
    let high = this.count;
    while (low < high) {
      const middle = (low + high) >>> 1;
      const middleMs = this.timeAt(middle);
      if (middleMs < timeMs || (middleMs === timeMs && this.ownerAt(middle) < owner)) low = middle + 1;
      else high = middle;
    }
    return low;
  }
}

/** Instants in blocks of about equal length, equal ones of one owner together; none if there are no instants. */
export function packInstants({ times, owners }: OwnedInstants, rowsMax: number): InstantBlock[] {
  const blocks: InstantBlock[] = [];
  const rows = Math.ceil(times.length / Math.ceil(times.length / rowsMax));
  for (let from = 0; from < times.length; ) {
    let to = Math.min(from + rows, times.length);
    while (to < times.length && times[to] === times[to - 1] && owners[to] === owners[to - 1]) to++;
    while (times[to - 1]! - times[from]! > SPAN_MS_MAX) to--;
    blocks.push(new InstantBlock({ times: times.subarray(from, to), owners: owners.subarray(from, to) }));
    from = to;
  }
  return blocks;
}
