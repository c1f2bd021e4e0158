import { countBefore, joinedNumbers } from "../../lib/tables/sorted-numbers.ts";

/**
 * Rows of a block: adding one instant copies a block, in less than a microsecond. With 256, a million corrected records
 * leave the process with a quarter more memory, since what was copied is returned late.
 */
const BLOCK_ROWS_MAX = 64;

/** Instants that a version names at most. */
const NAMED_MAX = 16;

/** Some instants with their owners, sorted by instant and then by owner. It never changes: another one replaces it. */
interface Block {
  readonly times: Float64Array;
  readonly owners: Uint32Array;
  /** Greater than that of any block before it. */
  readonly number: number;
}

let blockCount = 0;

function createBlock(times: Float64Array, owners: Uint32Array): Block {
  return { times, owners, number: ++blockCount };
}

const EMPTY = createBlock(new Float64Array(0), new Uint32Array(0));

/**
 * Sorted instants of one device, Unix ms, each with the number of what needs it, its owner. One may occur several
 * times, also with one owner.
 */
export class Instants {
  readonly #blockRowsMax: number;
  readonly #blocks: Block[] = [];
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
    this.#times ??= joinedNumbers(this.#blocks.map(({ times }) => times));
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
      const { times, number } = this.#blocks[at]!;
      if (times[0]! >= endMs) break;
      count++;
      newest = Math.max(newest, number);
    }
    return `${count}/${newest}`;
  }

  /** Those that have an owner after this one, each once. */
  timesAfter(owner: number): Float64Array {
    const after = this.#blocks.map(({ times, owners }) => times.filter((_, row) => owners[row]! > owner));
    const all = joinedNumbers(after);
    return all.filter((timeMs, at) => timeMs !== all[at - 1]);
  }

  /** Adds sorted instants. */
  add(times: Float64Array, owner = 0): void {
    if (this.#blocks.length === 0 && times.length > 0) this.#blocks.push(EMPTY);
    this.#change(times, owner, (block, some) => merged(block, some, owner));
  }

  /** Removes sorted instants, each once. */
  remove(times: Float64Array, owner = 0): void {
    this.#change(times, owner, (block, some) => without(block, some, owner));
  }

  /** Changes each block in which some instants lie, or belong. */
  #change(times: Float64Array, owner: number, changed: (block: Block, times: Float64Array) => Block): void {
    const blocks = this.#blocks;
    this.#times = null;
    for (let from = 0; from < times.length && blocks.length > 0; ) {
      const at = Math.min(this.#blockOf(times[from]!, owner), blocks.length - 1);
      const block = blocks[at]!;
      const to =
        at === blocks.length - 1 ? times.length : from + countUpTo(times.subarray(from), owner, block);
      const after = changed(block, times.subarray(from, to));
      this.#count += after.times.length - block.times.length;
      this.#replace(at, after);
      from = to;
    }
  }

  /** Replaces a block by what became of it: by several if that is large, by none if it is empty. */
  #replace(at: number, block: Block): void {
    const blocks = this.#blocks;
    const { length } = block.times;
    const before = blocks[at - 1];
    if (before !== undefined && before.times.length + length <= this.#blockRowsMax / 2)
      blocks.splice(at - 1, 2, appended(before, block));
    else if (length > 0 && length <= this.#blockRowsMax) blocks[at] = block;
    else blocks.splice(at, 1, ...cut(block, this.#blockRowsMax));
  }

  /** The first owner of an instant that is not before this one; `NO_OWNER` if there is none. */
  #ownerFrom(timeMs: number, owner: number): number {
    const block = this.#blocks[this.#blockOf(timeMs, owner)];
    if (block === undefined) return NO_OWNER;
    const row = rowsBefore(block, timeMs, owner);
    return block.times[row] === timeMs ? block.owners[row]! : NO_OWNER;
  }

  /** The index of the first block that does not end before an instant with an owner. */
  #blockOf(timeMs: number, owner: number): number {
    let low = 0;
    let high = this.#blocks.length;
    while (low < high) {
      const middle = (low + high) >>> 1;
      const { times, owners } = this.#blocks[middle]!;
      const last = times.length - 1;
      if (times[last]! < timeMs || (times[last] === timeMs && owners[last]! < owner)) low = middle + 1;
      else high = middle;
    }
    return low;
  }
}

const NO_OWNER = -1;

/** How many rows of a block are before an instant with an owner. */
function rowsBefore({ times, owners }: Block, timeMs: number, owner: number): number {
  let low = 0;
  let high = times.length;
  while (low < high) {
    const middle = (low + high) >>> 1;
    if (times[middle]! < timeMs || (times[middle] === timeMs && owners[middle]! < owner)) low = middle + 1;
    else high = middle;
  }
  return low;
}

/**
 * Adds the owners of those of some sorted instants, from an index on, that a block has. Returns the index of the first
 * that may be in a later block.
 */
function addOwners(
  { times, owners }: Block,
  wanted: Float64Array,
  byMs: number,
  from: number,
  all: Set<number>,
): number {
  let at = from;
  let last = NO_OWNER;
  for (let row = 0; row < times.length; row++) {
    const timeMs = times[row]! - byMs;
    while (wanted[at]! < timeMs) at++;
    if (wanted[at] !== timeMs || owners[row] === last) continue;
    last = owners[row]!;
    all.add(last);
  }
  return at;
}

/** How many of some sorted instants with an owner are not after the last of a block. */
function countUpTo(times: Float64Array, owner: number, block: Block): number {
  const lastMs = block.times.at(-1)!;
  let count = countBefore(times, lastMs);
  if (owner <= block.owners.at(-1)!) while (times[count] === lastMs) count++;
  return count;
}

function appended(a: Block, b: Block): Block {
  const owners = new Uint32Array(a.owners.length + b.owners.length);
  owners.set(a.owners);
  owners.set(b.owners, a.owners.length);
  return createBlock(joinedNumbers([a.times, b.times]), owners);
}

/** A block in pieces of about equal length; none if it is empty. */
function cut({ times, owners }: Block, rowsMax: number): Block[] {
  const pieces = Math.ceil(times.length / rowsMax);
  const rows = Math.ceil(times.length / pieces);
  return Array.from({ length: pieces }, (_, piece) => {
    const [from, to] = [piece * rows, (piece + 1) * rows];
    return createBlock(times.slice(from, to), owners.slice(from, to));
  });
}

function merged(block: Block, added: Float64Array, owner: number): Block {
  const times = new Float64Array(block.times.length + added.length);
  const owners = new Uint32Array(times.length);
  for (let i = 0, j = 0; i + j < times.length; ) {
    const [known, other] = [block.times[i]!, added[j]!];
    const isKnown = j === added.length || known < other || (known === other && block.owners[i]! <= owner);
    times[i + j] = isKnown ? known : other;
    owners[i + j] = isKnown ? block.owners[i]! : owner;
    if (isKnown) i++;
    else j++;
  }
  return createBlock(times, owners);
}

function without(block: Block, removed: Float64Array, owner: number): Block {
  const times = new Float64Array(block.times.length);
  const owners = new Uint32Array(block.times.length);
  let count = 0;
  for (let i = 0, j = 0; i < block.times.length; i++) {
    const timeMs = block.times[i]!;
    while (j < removed.length && removed[j]! < timeMs) j++;
    if (removed[j] === timeMs && block.owners[i] === owner) j++;
    else {
      times[count] = timeMs;
      owners[count++] = block.owners[i]!;
    }
  }
  return createBlock(times.slice(0, count), owners.slice(0, count));
}
