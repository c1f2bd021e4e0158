import { compareUtf8 } from "../lib/utf8.ts";
import type { Device } from "./device.ts";

/** Devices that lie together: few, so that putting one among them moves little. */
const BLOCK_MAX = 512;
/** Changes that are put in place together: some milliseconds of work. */
const CHANGES_MAX = 4096;

type Block = readonly Device[];

/**
 * Devices of an app or a user in the order of answers (UTF-8 bytes of their ids), in blocks. Changes wait until
 * somebody reads or until there are some thousand, so a fleet that arrives or changes hands one by one costs no
 * insertion each, and a million of them make no question wait.
 */
export class DeviceList {
  /** In order, none empty. A block never changes: another takes its place. */
  #blocks: Block[] = NO_BLOCKS;
  #added: Set<Device> = NO_CHANGES;
  #removed: Set<Device> = NO_CHANGES;
  #size = 0;

  get size(): number {
    return this.#size;
  }

  /** Adds a device that is not in the list. */
  add(device: Device): void {
    this.#size++;
    if (this.#removed.delete(device)) return;
    if (this.#added === NO_CHANGES) this.#added = new Set();
    this.#added.add(device);
    if (this.#added.size === CHANGES_MAX) this.#settle();
  }

  /** Takes out a device that is in the list. */
  delete(device: Device): void {
    this.#size--;
    if (this.#added.delete(device)) return;
    if (this.#removed === NO_CHANGES) this.#removed = new Set();
    this.#removed.add(device);
    // Nobody may ever read again, and what is gone should not be held.
    if (this.#removed.size >= Math.min(CHANGES_MAX, this.#size)) this.#settle();
  }

  /**
   * All devices, a block after the other. The list may change between two blocks: every device that stays is met
   * once, in order, and one that comes or goes meanwhile is met or not.
   */
  *blocks(): Iterable<Block> {
    for (let block = this.#blockAfter(null); block !== null; block = this.#blockAfter(block.at(-1)!))
      yield block;
  }

  *[Symbol.iterator](): Iterator<Device> {
    for (const block of this.blocks()) yield* block;
  }

  /** The first devices behind one that may be gone by now. */
  #blockAfter(device: Device | null): Block | null {
    this.#settle();
    if (device === null) return this.#blocks[0] ?? null;
    for (let index = this.#indexFor(device); index < this.#blocks.length; index++) {
      const block = this.#blocks[index]!;
      const from = countUpTo(block, device);
      if (from < block.length) return from === 0 ? block : block.slice(from);
    }
    return null;
  }

  /** Puts all changes in place. */
  #settle(): void {
    if (this.#added.size === 0 && this.#removed.size === 0) return;
    const additions = new Map<number, Device[]>();
    for (const device of this.#removed) additions.set(this.#indexFor(device), []);
    for (const device of [...this.#added].sort(byId)) {
      const index = Math.min(this.#indexFor(device), Math.max(0, this.#blocks.length - 1));
      const known = additions.get(index);
      if (known === undefined) additions.set(index, [device]);
      else known.push(device);
    }
    if (this.#blocks === NO_BLOCKS) this.#blocks = [];
    // From the last block on, so that those before it keep their places.
    for (const index of [...additions.keys()].sort((a, b) => b - a)) {
      const block = this.#blocks[index] ?? [];
      const changed = split(merge(this.#without(block), additions.get(index)!));
      if (changed.length === 1) this.#blocks[index] = changed[0]!;
      else this.#blocks.splice(index, 1, ...changed);
    }
    this.#added = NO_CHANGES;
    this.#removed = NO_CHANGES;
  }

  #without(block: Block): Block {
    return this.#removed.size === 0 ? block : block.filter((device) => !this.#removed.has(device));
  }

  /** The first block that ends with the device or behind it. */
  #indexFor(device: Device): number {
    let low = 0;
    let high = this.#blocks.length;
    while (low < high) {
      const middle = (low + high) >>> 1;
      if (byId(this.#blocks[middle]!.at(-1)!, device) < 0) low = middle + 1;
      else high = middle;
    }
    return low;
  }
}

/** Most lists are of a user with one device, and wait for no change: what they would hold is shared. */
const NO_BLOCKS: Block[] = [];
const NO_CHANGES = new Set<Device>();

function byId(a: Device, b: Device): number {
  return compareUtf8(a.id, b.id);
}

/** How many of a block come no later than the device. */
function countUpTo(block: Block, device: Device, from = 0): number {
  let low = from;
  let high = block.length;
  while (low < high) {
    const middle = (low + high) >>> 1;
    if (byId(block[middle]!, device) <= 0) low = middle + 1;
    else high = middle;
  }
  return low;
}

/** A block with some more devices, both in order. */
function merge(block: Block, additions: Block): Block {
  const merged: Device[] = [];
  let from = 0;
  for (const device of additions) {
    const to = countUpTo(block, device, from);
    while (from < to) merged.push(block[from++]!);
    merged.push(device);
  }
  while (from < block.length) merged.push(block[from++]!);
  return merged;
}

/** None where there is nothing left, and blocks with room for more where there is too much for one. */
function split(devices: Block): Block[] {
  if (devices.length === 0) return [];
  if (devices.length <= BLOCK_MAX) return [devices];
  const blocks: Block[] = [];
  const size = BLOCK_MAX / 2;
  for (let start = 0; start < devices.length; start += size) blocks.push(devices.slice(start, start + size));
  return blocks;
}
