import { sortInSteps } from "../../lib/schedule/sort-in-steps.ts";
import type { Steps } from "../../lib/schedule/steps.ts";
import { compareUtf8 } from "../../lib/text/utf8.ts";
import type { Device } from "./device.ts";

/** A list of devices in the order of answers, cheap to change. */

/** Devices that lie together: few, so that putting one among them moves little. */
const BLOCK_MAX = 512;
/** Changes that are put in place one by one, which takes a few milliseconds; more of them, in steps. */
const CHANGES_MAX = 1024;

type Block = readonly Device[];

/**
 * Devices of an app or a user in the order of answers (UTF-8 bytes of their ids), in blocks. Changes wait until
 * somebody reads, so a fleet that arrives or changes hands one by one costs no insertion each. Where a million wait,
 * the first who reads them sorts them, in steps.
 */
export class DeviceList {
  /** In order, none empty. A block never changes: another takes its place. */
  #blocks: Block[] = NO_BLOCKS;
  #added: Set<Device> = NO_CHANGES;
  #removed: Set<Device> = NO_CHANGES;
  /** Puts the changes before it in place, while new ones wait: whoever reads does some of it. */
  #settling: Steps<void> | null = null;
  #size = 0;

  get size(): number {
    return this.#size;
  }

  /** Whether reading begins at once. */
  get isSettled(): boolean {
    return this.#settling === null && this.#added.size + this.#removed.size <= CHANGES_MAX;
  }

  /** Whether it keeps more that is gone than that is there, until somebody reads it: which should be soon, then. */
  get holdsGone(): boolean {
    return this.#removed.size > this.#size && !this.isSettled;
  }

  /** Adds a device that is not in the list. */
  add(device: Device): void {
    this.#size++;
    if (this.#removed.delete(device)) return;
    if (this.#added === NO_CHANGES) this.#added = new Set();
    this.#added.add(device);
  }

  /** Takes out a device that is in the list. */
  delete(device: Device): void {
    this.#size--;
    if (this.#added.delete(device)) return;
    if (this.#removed === NO_CHANGES) this.#removed = new Set();
    this.#removed.add(device);
    // Nobody may ever read again, and what is gone should not be held.
    if (this.#removed.size > this.#size && this.isSettled) this.#putInPlace();
  }

  /**
   * All devices, a block after the other; empty blocks while changes are put in place. The list may change between two
   * blocks: every device that stays is met once, in order, and one that comes or goes meanwhile is met or not.
   */
  *blocks(): Iterable<Block> {
    let last: Device | null = null;
    for (;;) {
      while (!this.#settleSome()) yield [];
      const block = this.#blockAfter(last);
      if (block === null) return;
      yield block;
      last = block.at(-1)!;
    }
  }

  /** The same one by one; null where others should have their turn while changes are put in place. */
  *devices(): Iterable<Device | null> {
    for (const block of this.blocks()) {
      if (block.length === 0) yield null;
      else yield* block;
    }
  }

  *[Symbol.iterator](): Iterator<Device> {
    for (const block of this.blocks()) yield* block;
  }

  /** The first devices behind one that may be gone by now. */
  #blockAfter(device: Device | null): Block | null {
    if (device === null) return this.#blocks[0] ?? null;
    for (let index = this.#indexFor(device); index < this.#blocks.length; index++) {
      const block = this.#blocks[index]!;
      const from = countUpTo(block, device);
      if (from < block.length) return from === 0 ? block : block.slice(from);
    }
    return null;
  }

  /** Takes a step towards having all changes in place; true where they are. */
  #settleSome(): boolean {
    if (this.#settling === null) {
      if (this.#added.size + this.#removed.size === 0) return true;
      if (this.isSettled) {
        this.#putInPlace();
        return true;
      }
      this.#settling = this.#mergeAll();
    }
    if (this.#settling.next().done === true) this.#settling = null;
    return false;
  }

  /** Puts few changes in place. */
  #putInPlace(): void {
    const additions = new Map<number, Device[]>();
    for (const device of this.#removed) additions.set(this.#indexFor(device), []);
    for (const device of [...this.#added].sort(byId)) {
      const index = Math.min(this.#indexFor(device), Math.max(0, this.#blocks.length - 1));
      const known = additions.get(index);
      if (known === undefined) additions.set(index, [device]);
      else known.push(device);
    }
    if (this.#blocks === NO_BLOCKS) this.#blocks = [];
    // From the last block on, so that the indexes of those before it stay.
    for (const index of [...additions.keys()].sort((a, b) => b - a)) {
      const block = (this.#blocks[index] ?? []).filter((device) => !this.#removed.has(device));
      for (const device of additions.get(index)!) block.splice(countUpTo(block, device), 0, device);
      const changed = split(block);
      if (changed.length === 1) this.#blocks[index] = changed[0]!;
      else this.#blocks.splice(index, 1, ...changed);
    }
    this.#added = NO_CHANGES;
    this.#removed = NO_CHANGES;
  }

  /** Makes all blocks anew. What changes meanwhile waits, as a change to what this makes. */
  *#mergeAll(): Steps<void> {
    const [added, removed] = [this.#added, this.#removed];
    this.#added = NO_CHANGES;
    this.#removed = NO_CHANGES;
    const items: Device[] = [];
    for (const device of added) if (items.push(device) % BLOCK_MAX === 0) yield;
    const sorted = yield* sortInSteps(items, byId);
    const blocks: Block[] = [];
    let block: Device[] = [];
    let at = 0;
    for (const old of [...this.#blocks, NO_MORE]) {
      for (let from = 0; from < old.length || (old === NO_MORE && at < sorted.length); ) {
        const next = sorted[at];
        const isOld = from < old.length && (next === undefined || byId(old[from]!, next) < 0);
        const device = isOld ? old[from++]! : sorted[at++]!;
        if (isOld && removed.has(device)) continue;
        block.push(device);
        if (block.length < BLOCK_MAX / 2) continue;
        blocks.push(block);
        block = [];
        yield;
      }
    }
    if (block.length > 0) blocks.push(block);
    this.#blocks = blocks;
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
/** Comes behind the last block. */
const NO_MORE: Block = [];

function byId(a: Device, b: Device): number {
  return compareUtf8(a.id, b.id);
}

/** How many of a block come no later than the device. */
function countUpTo(block: Block, device: Device): number {
  let low = 0;
  let high = block.length;
  while (low < high) {
    const middle = (low + high) >>> 1;
    if (byId(block[middle]!, device) <= 0) low = middle + 1;
    else high = middle;
  }
  return low;
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
