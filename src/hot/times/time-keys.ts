import { assert } from "../../lib/assert.ts";
import type { Steps } from "../../lib/schedule/steps.ts";

/** A key has the device number in the lower 26 bits and the time of day in the 27 above: all that a double can hold. */
const DEVICES_MAX = 2 ** 26;

/** A record as one number, sorted by time of day, then by device number. */
export function timeKey(msOfDay: number, device: number): number {
  assert(device < DEVICES_MAX, "a device's number fits into a key");
  return msOfDay * DEVICES_MAX + device;
}

export function msOf(key: number): number {
  return Math.floor(key / DEVICES_MAX);
}

export function deviceOf(key: number): number {
  return key - msOf(key) * DEVICES_MAX;
}

/** 4 KB per leaf: an insert into the middle of a day moves half of that. */
export const LEAF_KEYS = 512;
/** Most apps have few records a day, so the first leaf starts small. */
const FIRST_LEAF_KEYS = 16;

interface Leaf {
  keys: Float64Array;
  count: number;
}

/**
 * A sorted set of keys in leaves, like the lowest level of a B+ tree. One sorted list above them suffices, since even a
 * day of ten million records has some 20,000 leaves. If keys come in order, a full leaf is split at its end, so leaves
 * stay full and a key takes 8 bytes.
 */
export class TimeKeys {
  #count = 0;
  readonly #leaves: Leaf[] = [];
  /** The first key of each leaf. */
  readonly #firsts: number[] = [];
  /** The index of each leaf's first key; only the first `#startsKnown` are valid. */
  #starts = new Float64Array(0);
  #startsKnown = 0;

  get count(): number {
    return this.#count;
  }

  /** Returns false if the set has the key already. */
  add(key: number): boolean {
    if (this.#leaves.length === 0) this.#insertLeaf(0, new Float64Array(FIRST_LEAF_KEYS), 0);
    let l = this.#leafFor(key);
    let leaf = this.#leaves[l]!;
    let at = keysBefore(leaf, key);
    if (at < leaf.count && leaf.keys[at] === key) return false;
    if (leaf.count === leaf.keys.length) {
      this.#makeRoom(l, at);
      l = this.#leafFor(key);
      leaf = this.#leaves[l]!;
      at = keysBefore(leaf, key);
    }
    if (at < leaf.count) leaf.keys.copyWithin(at + 1, at, leaf.count);
    leaf.keys[at] = key;
    leaf.count++;
    if (at === 0) this.#firsts[l] = key;
    this.#count++;
    this.#startsKnown = Math.min(this.#startsKnown, l + 1);
    return true;
  }

  /** Takes ownership of sorted keys that are greater than all others, as a leaf. */
  append(keys: Float64Array): void {
    assert(keys.length > 0 && keys.length <= LEAF_KEYS, "a leaf has keys, and no more than fit");
    this.#insertLeaf(this.#leaves.length, keys, keys.length);
    this.#count += keys.length;
  }

  /** How many keys are less than this. */
  countBefore(key: number): number {
    if (this.#count === 0) return 0;
    const l = this.#leafFor(key);
    return this.#startOf(l) + keysBefore(this.#leaves[l]!, key);
  }

  /** Keys `from` to before `to`. */
  slice(from: number, to: number): Float64Array {
    const keys = new Float64Array(Math.max(0, to - from));
    if (keys.length === 0) return keys;
    let l = this.#leafAt(from);
    for (let at = from; at < to; l++) {
      const { keys: ofLeaf, count } = this.#leaves[l]!;
      const start = this.#startOf(l);
      const some = ofLeaf.subarray(at - start, Math.min(count, to - start));
      keys.set(some, at - from);
      at += some.length;
    }
    return keys;
  }

  #insertLeaf(l: number, keys: Float64Array, count: number): void {
    this.#leaves.splice(l, 0, { keys, count });
    this.#firsts.splice(l, 0, keys[0]!);
    this.#startsKnown = Math.min(this.#startsKnown, l);
  }

  /** Makes room in or beside a full leaf for a key at this index of it. */
  #makeRoom(l: number, at: number): void {
    const leaf = this.#leaves[l]!;
    const { keys, count } = leaf;
    if (count < LEAF_KEYS) {
      leaf.keys = new Float64Array(Math.min(2 * count, LEAF_KEYS));
      leaf.keys.set(keys);
      return;
    }
    const isBehindAll = at === count && l === this.#leaves.length - 1;
    const lowerCount = isBehindAll ? count - 1 : count >> 1;
    const upper = new Float64Array(LEAF_KEYS);
    upper.set(keys.subarray(lowerCount));
    leaf.count = lowerCount;
    this.#insertLeaf(l + 1, upper, count - lowerCount);
  }

  /** The last leaf whose first key is no greater; 0 if there is none. */
  #leafFor(key: number): number {
    const firsts = this.#firsts;
    let high = firsts.length - 1;
    if (key >= firsts[high]!) return high; // Most reports are recent.
    let low = 0;
    while (low < high) {
      const middle = (low + high) >>> 1;
      if (firsts[middle]! <= key) low = middle + 1;
      else high = middle;
    }
    return Math.max(0, low - 1);
  }

  /** The leaf that contains the key at an index. */
  #leafAt(index: number): number {
    this.#startOf(this.#leaves.length - 1);
    let low = 0;
    let high = this.#leaves.length;
    while (low < high) {
      const middle = (low + high) >>> 1;
      if (this.#starts[middle]! <= index) low = middle + 1;
      else high = middle;
    }
    return low - 1;
  }

  /** The index of a leaf's first key. Starts behind a change are computed on demand. */
  #startOf(l: number): number {
    if (this.#starts.length < this.#leaves.length) {
      const starts = new Float64Array(2 * this.#leaves.length);
      starts.set(this.#starts.subarray(0, this.#startsKnown));
      this.#starts = starts;
    }
    for (let next = this.#startsKnown; next <= l; next++)
      this.#starts[next] = next === 0 ? 0 : this.#starts[next - 1]! + this.#leaves[next - 1]!.count;
    this.#startsKnown = Math.max(this.#startsKnown, l + 1);
    return this.#starts[l]!;
  }
}

function keysBefore({ keys, count }: Leaf, key: number): number {
  let low = 0;
  let high = count;
  while (low < high) {
    const middle = (low + high) >>> 1;
    if (keys[middle]! < key) low = middle + 1;
    else high = middle;
  }
  return low;
}

/** Keys merged per step, in some tens of microseconds. */
const STEP_KEYS = 8192;

/**
 * Merges sorted runs into one, in steps. Runs leave the list as they are merged, so that memory never has more than two
 * copies of each key.
 */
export function* mergeRuns(runs: Float64Array[]): Steps<Float64Array> {
  while (runs.length > 1) runs.push(yield* merge(runs.shift()!, runs.shift()!));
  return runs[0] ?? new Float64Array(0);
}

function* merge(a: Float64Array, b: Float64Array): Steps<Float64Array> {
  const merged = new Float64Array(a.length + b.length);
  let [i, j] = [0, 0];
  while (i + j < merged.length) {
    for (const end = Math.min(merged.length, i + j + STEP_KEYS); i + j < end; ) {
      const takesFirst = j === b.length || (i < a.length && a[i]! <= b[j]!);
      merged[i + j] = takesFirst ? a[i]! : b[j]!;
      if (takesFirst) i++;
      else j++;
    }
    yield;
  }
  return merged;
}
