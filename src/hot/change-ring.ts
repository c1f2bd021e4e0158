import { SharedPool } from "../lib/schedule/shared-pool.ts";
import { makePageRoom } from "../lib/tables/columns.ts";
import { PAGE_MASK, PAGE_SHIFT } from "../lib/tables/number-pool.ts";

/** What became visible of an app, as long as it is remembered. */

/** How many changes are remembered. */
export interface ChangeRoom {
  /** What rings may grow by, of all apps together. */
  readonly pool: Pick<SharedPool, "take" | "give">;
  /** The changes of one app; a power of two. */
  readonly changesMax: number;
  nowMs(): number;
}

/** A fleet that makes 2,000 changes a second may be away for half a minute and miss none. */
const CHANGES_MAX = 65_536;
/** 64 MiB; an app has 2 MiB of it at most. */
const ALL_CHANGES_MAX = 32 * CHANGES_MAX;

export function createChangeRoom(): ChangeRoom {
  return {
    pool: new SharedPool(ALL_CHANGES_MAX),
    changesMax: CHANGES_MAX,
    nowMs: () => performance.now(),
  };
}

/*
 * A row: | entry of the log f64 | latitude f64 | longitude f64 | device i32 | hash of the user i32 |
 */
const WIDTH = 4; // Each counted in cells of its own width.
const SEQUENCE = 0;
const LATITUDE = 1;
const LONGITUDE = 2;
const INTEGERS = 8;
const DEVICE = 6;
const USER_HASH = 7;

const CHANGES_INITIAL = 64;
/** Where a lap takes longer, the ring is as long as anybody needs to come back. */
const LAP_MS_MIN = 15 * 60 * 1000;

/**
 * A ring buffer of changes: a device's newest record became another. Changes are numbered from 0 on as they come; the
 * number is a position, which stays the change's own. An entry of the log makes one change at most of each device.
 *
 * A change says what the device was before, so that it can be told who no longer sees it. What it is now, everybody
 * asks the device itself.
 */
export class ChangeRing {
  readonly #appId: string;
  readonly #room: ChangeRoom;
  #first = 0;
  #end = 0;
  #clearedAt = 0;
  #knownSince: number;
  #lapStartedMs: number;
  /** The entry of the last change, and the position of its first. */
  #entrySequence = 0;
  #entryFirst = 0;
  /** By slot, which is the lower bits of a position, a row each. There is a power of two of them, or none. */
  #rows = new Float64Array(0);
  /** The same memory. */
  #integers = new Int32Array(0);
  #capacity = 0;
  /** By device, the slot of its last change, as long as that is remembered. */
  #slots: (Uint16Array | undefined)[] = [];

  /** Knows what came after this entry of the log. */
  constructor(appId: string, knownSince: number, room: ChangeRoom) {
    this.#appId = appId;
    this.#knownSince = knownSince;
    this.#room = room;
    this.#lapStartedMs = room.nowMs();
  }

  /** Of the oldest change that is remembered. */
  get first(): number {
    return this.#first;
  }

  /** Of the change that comes next. */
  get end(): number {
    return this.#end;
  }

  /** Older positions are of changes that were forgotten all at once. */
  get clearedAt(): number {
    return this.#clearedAt;
  }

  /** Of the first change that an entry after this one made; null where such changes may be forgotten. */
  positionAfter(sequence: number): number | null {
    if (sequence < this.#knownSince) return null;
    let low = this.#first;
    let high = this.#end;
    while (low < high) {
      const middle = Math.floor((low + high) / 2);
      if (this.sequenceAt(middle) <= sequence) low = middle + 1;
      else high = middle;
    }
    return low;
  }

  deviceAt(position: number): number {
    return this.#integers[this.#slotOf(position) * INTEGERS + DEVICE]!;
  }

  sequenceAt(position: number): number {
    return this.#rows[this.#slotOf(position) * WIDTH + SEQUENCE]!;
  }

  /** Degrees; NaN where the device had not been there before. */
  latitudeBefore(position: number): number {
    return this.#rows[this.#slotOf(position) * WIDTH + LATITUDE]!;
  }

  longitudeBefore(position: number): number {
    return this.#rows[this.#slotOf(position) * WIDTH + LONGITUDE]!;
  }

  userHashBefore(position: number): number {
    return this.#integers[this.#slotOf(position) * INTEGERS + USER_HASH]!;
  }

  /** An entry of the log changed a device that was this until then. */
  note(device: number, sequence: number, latitude: number, longitude: number, userHash: number): void {
    const at = device & PAGE_MASK;
    let slots = this.#slots[device >>> PAGE_SHIFT];
    if (slots === undefined || at >= slots.length) slots = makePageRoom(this.#slots, device, createSlots);
    if (sequence !== this.#entrySequence) {
      this.#entrySequence = sequence;
      this.#entryFirst = this.#end;
    }
    // Nobody has heard of what the same entry made of it before.
    const last = slots[at]!;
    const isOfEntry = this.#slotOf(last - this.#entryFirst) < this.#end - this.#entryFirst;
    if (isOfEntry && this.#integers[last * INTEGERS + DEVICE] === device) return;
    if (this.#end - this.#first === this.#capacity) this.#makeRoom();
    const slot = this.#slotOf(this.#end++);
    const rows = this.#rows;
    const integers = this.#integers;
    rows[slot * WIDTH + SEQUENCE] = sequence;
    rows[slot * WIDTH + LATITUDE] = latitude;
    rows[slot * WIDTH + LONGITUDE] = longitude;
    integers[slot * INTEGERS + DEVICE] = device;
    integers[slot * INTEGERS + USER_HASH] = userHash;
    slots[at] = slot;
  }

  /**
   * Forgets everything: something is gone from sight that no change tells of. Only who saw all that comes after
   * `sequence` can go on from what it knows; every position from before is older than the first.
   */
  clear(sequence: number): void {
    const capacity = this.#capacity;
    const { changesMax } = this.#room;
    const initial = this.#initialCapacity;
    if (capacity > initial) this.#room.pool.give(this.#holder, capacity - initial);
    this.#knownSince = sequence + 1;
    this.#end = (Math.floor(this.#end / changesMax) + 1) * changesMax; // Where a lap begins.
    this.#first = this.#end;
    this.#clearedAt = this.#end;
    this.#entryFirst = this.#end;
    this.#allocate(0);
    this.#slots = [];
  }

  /** Which nobody is asked for. */
  get #initialCapacity(): number {
    return Math.min(CHANGES_INITIAL, this.#room.changesMax);
  }

  get #holder() {
    return { appId: this.#appId, keyId: "" };
  }

  #slotOf(position: number): number {
    return position & (this.#capacity - 1);
  }

  /** Grows, or forgets the oldest change. */
  #makeRoom(): void {
    const capacity = this.#capacity;
    if (capacity === 0) this.#allocate(this.#initialCapacity);
    else if (this.#slotOf(this.#end) === 0 && this.#mayGrow(capacity)) this.#double();
    else this.#knownSince = this.sequenceAt(this.#first++);
  }

  #mayGrow(capacity: number): boolean {
    const nowMs = this.#room.nowMs();
    const lapMs = nowMs - this.#lapStartedMs;
    this.#lapStartedMs = nowMs;
    if (lapMs >= LAP_MS_MIN || 2 * capacity > this.#room.changesMax) return false;
    return this.#room.pool.take(this.#holder, capacity);
  }

  /** At the end of a lap: the rows begin with the oldest change. */
  #double(): void {
    const before = this.#rows;
    this.#allocate(2 * this.#capacity);
    const moved = this.#slotOf(this.#first);
    this.#rows.set(before, moved * WIDTH);
    for (const slots of this.#slots)
      if (slots !== undefined) for (let at = 0; at < slots.length; at++) slots[at]! += moved;
  }

  #allocate(capacity: number): void {
    this.#capacity = capacity;
    this.#rows = new Float64Array(capacity * WIDTH);
    this.#integers = new Int32Array(this.#rows.buffer);
  }
}

function createSlots(length: number): Uint16Array {
  return new Uint16Array(length);
}
