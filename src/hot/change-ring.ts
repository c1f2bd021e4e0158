import { SharedPool } from "../lib/schedule/shared-pool.ts";
import { makePageRoom } from "../lib/tables/columns.ts";
import { PAGE_MASK, PAGE_SHIFT } from "../lib/tables/number-pool.ts";

/** Limits of how many changes the rings remember. */
export interface ChangeRoom {
  /** The quota that all rings share. */
  readonly pool: Pick<SharedPool, "take" | "give">;
  /** The most changes of one app; a power of two. */
  readonly changesMax: number;
  nowMs(): number;
}

/** A client of a fleet with 2,000 changes a second may be away for half a minute and miss none. */
const CHANGES_MAX = 65_536;
/** 64 MiB for all apps; one app uses 2 MiB of it at most. */
const ALL_CHANGES_MAX = 32 * CHANGES_MAX;

export function createChangeRoom(): ChangeRoom {
  return {
    pool: new SharedPool(ALL_CHANGES_MAX),
    changesMax: CHANGES_MAX,
    nowMs: () => performance.now(),
  };
}

// A row: | entry of the log f64 | latitude f64 | longitude f64 | device i32 | hash of the user i32 |
const WIDTH = 4; // In cells of 8 bytes; `INTEGERS` is the same width in cells of 4 bytes.
const SEQUENCE = 0;
const LATITUDE = 1;
const LONGITUDE = 2;
const INTEGERS = 8;
const DEVICE = 6;
const USER_HASH = 7;

const CHANGES_INITIAL = 64;
/** A ring whose lap takes at least this long remembers enough for every client that reconnects, so it doesn't grow. */
const LAP_MS_MIN = 15 * 60 * 1000;

/**
 * A ring buffer of the changes of devices' newest records in one app. Each change has a position, counted from 0, which
 * never changes. One entry of the log makes at most one change per device.
 * A change stores what the device was before, so that subscribers who no longer see it can be informed. What the device
 * is now is read from the device.
 */
export class ChangeRing {
  readonly #appId: string;
  readonly #room: ChangeRoom;
  #first = 0;
  #end = 0;
  #clearedAt = 0;
  #knownSince: number;
  #lapStartedMs: number;
  /** The entry of the last change, and the position of that entry's first change. */
  #entrySequence = 0;
  #entryFirst = 0;
  /** One row per slot. The slot is the lower bits of the position. The number of slots is a power of two, or 0. */
  #rows = new Float64Array(0);
  /** The memory of `#rows`, seen as 32-bit integers. */
  #integers = new Int32Array(0);
  #capacity = 0;
  /** By device, the slot of its last change. Valid only if that row still names the device. */
  #slots: (Uint16Array | undefined)[] = [];

  /** The ring remembers every change after the entry `knownSince`. */
  constructor(appId: string, knownSince: number, room: ChangeRoom) {
    this.#appId = appId;
    this.#knownSince = knownSince;
    this.#room = room;
    this.#lapStartedMs = room.nowMs();
  }

  /** Position of the oldest change that is remembered. */
  get first(): number {
    return this.#first;
  }

  /** Position of the next change. */
  get end(): number {
    return this.#end;
  }

  /** Positions below this were dropped all together, by `clear()`. */
  get clearedAt(): number {
    return this.#clearedAt;
  }

  /** Position of the first change after this entry; null if such changes may be forgotten already. */
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

  /** Degrees; NaN if the device was not there before. */
  latitudeBefore(position: number): number {
    return this.#rows[this.#slotOf(position) * WIDTH + LATITUDE]!;
  }

  longitudeBefore(position: number): number {
    return this.#rows[this.#slotOf(position) * WIDTH + LONGITUDE]!;
  }

  userHashBefore(position: number): number {
    return this.#integers[this.#slotOf(position) * INTEGERS + USER_HASH]!;
  }

  /** Records that an entry of the log changed a device, which had this position and user before. */
  note(device: number, sequence: number, latitude: number, longitude: number, userHash: number): void {
    const at = device & PAGE_MASK;
    let slots = this.#slots[device >>> PAGE_SHIFT];
    if (slots === undefined || at >= slots.length) slots = makePageRoom(this.#slots, device, createSlots);
    if (sequence !== this.#entrySequence) {
      this.#entrySequence = sequence;
      this.#entryFirst = this.#end;
    }
    // A second change by the same entry needs no record: no reader has seen the first.
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
   * Drops all changes, because something vanished that no change describes. Only a reader that has seen everything
   * after `sequence` can continue from what it knows; all earlier positions are below `first`.
   */
  clear(sequence: number): void {
    const capacity = this.#capacity;
    const { changesMax } = this.#room;
    const initial = this.#initialCapacity;
    if (capacity > initial) this.#room.pool.give(this.#holder, capacity - initial);
    this.#knownSince = sequence + 1;
    this.#end = (Math.floor(this.#end / changesMax) + 1) * changesMax; // The start of a lap.
    this.#first = this.#end;
    this.#clearedAt = this.#end;
    this.#entryFirst = this.#end;
    this.#allocate(0);
    this.#slots = [];
  }

  /** Allocated without asking the shared pool. */
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
