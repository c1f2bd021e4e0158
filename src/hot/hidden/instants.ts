import { countBefore, joinedNumbers } from "../../lib/tables/sorted-numbers.ts";
import { type InstantBlock, type OwnedInstants, packInstants } from "./instant-block.ts";

/**
 * Rows of a block: adding one instant copies a block, in less than a microsecond. With 256, a million corrected records
 * leave the process with a quarter more memory, since what was copied is returned late.
 */
const BLOCK_ROWS_MAX = 64;

/** Instants that a version names at most. */
const NAMED_MAX = 16;

/**
 * Sorted instants of one device, Unix ms, each with the number of what needs it, its owner. One may occur several
 * times, also with one owner.
 */
export class Instants {
  readonly #blockRowsMax: number;
  readonly #blocks: InstantBlock[] = [];
  #count = 0;
  /** Null after a change, until it is needed. */
  #times: Float64Array | null = null;

  constructor(blockRowsMax = BLOCK_ROWS_MAX) {
    this.#blockRowsMax = blockRowsMax;
  }

  /** How many, each as often as it occurs. */
  get count(): number {
    return this.#count;
  }

  /** Sorted. A reader may hold on to it. */
  get times(): Float64Array {
    this.#times ??= this.#timesOf(() => true);
    return this.#times;
  }

  has(timeMs: number): boolean {
    return this.#ownerFrom(timeMs, 0) !== NO_OWNER;
  }

  /** The first owner of an instant after another one; 0 if there is none. */
  ownerAfter(timeMs: number, owner: number): number {
    return Math.max(0, this.#ownerFrom(timeMs, owner + 1));
  }

  /** All owners of some sorted instants, to which `byMs` is added. */
  ownersAt(times: Float64Array, byMs: number): ReadonlySet<number> {
    const all = new Set<number>();
    let at = 0;
    for (let from = 0; from < times.length; ) {
      at = Math.max(at, this.#blockOf(times[from]! + byMs, 0));
      const block = this.#blocks[at++];
      if (block === undefined) break;
      from = addOwners(block, times, byMs, from, all);
    }
    return all;
  }

  /** Whether an instant has this owner and no other one. */
  isOnlyOf(timeMs: number, owner: number): boolean {
    return this.#ownerFrom(timeMs, 0) === owner && this.ownerAfter(timeMs, owner) === 0;
  }

  /** Those of a range, as a view. */
  within(startMs: number, endMs: number): Float64Array {
    const { times } = this;
    return times.subarray(countBefore(times, startMs), countBefore(times, endMs));
  }

  /**
   * Differs whenever those of a range may have changed. As blocks never change, and each new one has a greater number,
   * equal counts and greatest numbers mean the same blocks. Few instants, which may share a block with those of other
   * ranges, are named themselves.
   */
  versionOf(startMs: number, endMs: number): string {
    const some = this.within(startMs, endMs);
    if (some.length <= NAMED_MAX) return some.join();
    let [count, newest] = [0, 0];
    for (let at = this.#blockOf(startMs, 0); at < this.#blocks.length; at++) {
      const { firstMs, number } = this.#blocks[at]!;
      if (firstMs >= endMs) break;
      count++;
      newest = Math.max(newest, number);
    }
    return `${count}/${newest}`;
  }

  /** Those that have an owner after this one, each once. */
  timesAfter(owner: number): Float64Array {
    const all = this.#timesOf((block, row) => block.ownerAt(row) > owner);
    return all.filter((timeMs, at) => timeMs !== all[at - 1]);
  }

  #timesOf(isWanted: (block: InstantBlock, row: number) => boolean): Float64Array {
    const times = new Float64Array(this.#count);
    let count = 0;
    for (const block of this.#blocks)
      for (let row = 0; row < block.count; row++)
        if (isWanted(block, row)) times[count++] = block.timeAt(row);
    return count === times.length ? times : times.slice(0, count);
  }

  /** Adds sorted instants. */
  add(times: Float64Array, owner = 0): void {
    if (this.#blocks.length === 0) {
      const owners = new Uint32Array(times.length).fill(owner);
      this.#blocks.push(...packInstants({ times, owners }, this.#blockRowsMax));
      this.#count = times.length;
      this.#times = null;
    } else {
      this.#change(times, owner, (some, added) => merged(some, added, owner));
    }
  }

  /** Removes sorted instants, each once. */
  remove(times: Float64Array, owner = 0): void {
    this.#change(times, owner, (some, removed) => without(some, removed, owner));
  }

  /** Changes each block in which some instants lie, or belong. */
  #change(
    times: Float64Array,
    owner: number,
    changed: (some: OwnedInstants, times: Float64Array) => OwnedInstants,
  ): void {
    const blocks = this.#blocks;
    this.#times = null;
    for (let from = 0; from < times.length && blocks.length > 0; ) {
      const at = Math.min(this.#blockOf(times[from]!, owner), blocks.length - 1);
      const block = blocks[at]!;
      const to =
        at === blocks.length - 1 ? times.length : from + countUpTo(times.subarray(from), owner, block);
      const after = changed(block.unpack(), times.subarray(from, to));
      this.#count += after.times.length - block.count;
      this.#replace(at, after);
      from = to;
    }
  }

  /** Replaces a block by what became of it: by several if that is much, by none if it is empty. */
  #replace(at: number, some: OwnedInstants): void {
    const before = this.#blocks[at - 1];
    const isSmall =
      before !== undefined && before.count + some.times.length <= Math.floor(this.#blockRowsMax / 2);
    if (isSmall) this.#blocks.splice(at - 1, 2, ...this.#packed(joined(before.unpack(), some)));
    else this.#blocks.splice(at, 1, ...this.#packed(some));
  }

  #packed(some: OwnedInstants): InstantBlock[] {
    return packInstants(some, this.#blockRowsMax);
  }

  /** The first owner of an instant that is not before this one; `NO_OWNER` if there is none. */
  #ownerFrom(timeMs: number, owner: number): number {
    const block = this.#blocks[this.#blockOf(timeMs, owner)];
    if (block === undefined) return NO_OWNER;
    const row = block.countBefore(timeMs, owner);
    return block.timeAt(row) === timeMs ? block.ownerAt(row) : NO_OWNER;
  }

  /** The index of the first block that does not end before an instant with an owner. */
  #blockOf(timeMs: number, owner: number): number {
    let low = 0;
    let high = this.#blocks.length;
    while (low < high) {
      const middle = (low + high) >>> 1;
      if (this.#blocks[middle]!.isBefore(timeMs, owner)) low = middle + 1;
      else high = middle;
    }
    return low;
  }
}

const NO_OWNER = -1;

/**
 * Adds the owners of those of some sorted instants, from an index on, that a block has. Returns the index of the first
 * that may be in a later block.
 */
function addOwners(
  block: InstantBlock,
  wanted: Float64Array,
  byMs: number,
  from: number,
  all: Set<number>,
): number {
  let at = from;
  let last = NO_OWNER;
  for (let row = 0; row < block.count; row++) {
    const timeMs = block.timeAt(row) - byMs;
    while (wanted[at]! < timeMs) at++;
    if (wanted[at] !== timeMs || block.ownerAt(row) === last) continue;
    last = block.ownerAt(row);
    all.add(last);
  }
  return at;
}

/** How many of some sorted instants with an owner are not after the last of a block. */
function countUpTo(times: Float64Array, owner: number, { lastMs, lastOwner }: InstantBlock): number {
  let count = countBefore(times, lastMs);
  if (owner <= lastOwner) while (times[count] === lastMs) count++;
  return count;
}

/** Instants followed by later ones. */
function joined(a: OwnedInstants, b: OwnedInstants): OwnedInstants {
  const owners = new Uint32Array(a.owners.length + b.owners.length);
  owners.set(a.owners);
  owners.set(b.owners, a.owners.length);
  return { times: joinedNumbers([a.times, b.times]), owners };
}

function merged(some: OwnedInstants, added: Float64Array, owner: number): OwnedInstants {
  const times = new Float64Array(some.times.length + added.length);
  const owners = new Uint32Array(times.length);
  for (let i = 0, j = 0; i + j < times.length; ) {
    const [known, other] = [some.times[i]!, added[j]!];
    const isKnown = j === added.length || known < other || (known === other && some.owners[i]! <= owner);
    times[i + j] = isKnown ? known : other;
    owners[i + j] = isKnown ? some.owners[i]! : owner;
    if (isKnown) i++;
    else j++;
  }
  return { times, owners };
}

function without(some: OwnedInstants, removed: Float64Array, owner: number): OwnedInstants {
  const times = new Float64Array(some.times.length);
  const owners = new Uint32Array(some.times.length);
  let count = 0;
  for (let i = 0, j = 0; i < some.times.length; i++) {
    const timeMs = some.times[i]!;
    while (j < removed.length && removed[j]! < timeMs) j++;
    if (removed[j] === timeMs && some.owners[i] === owner) j++;
    else {
      times[count] = timeMs;
      owners[count++] = some.owners[i]!;
    }
  }
  return { times: times.slice(0, count), owners: owners.slice(0, count) };
}
