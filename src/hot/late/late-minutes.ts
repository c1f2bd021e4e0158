import { nextTurn } from "../../lib/schedule/timers.ts";
import { grown } from "../../lib/tables/columns.ts";
import type { TimeRange } from "../../model/time/range.ts";
import { MS_PER_MINUTE } from "../../model/time/units.ts";
import { nextUtcDay, type UtcDay, utcDayStartMs } from "../../model/time/utc-day.ts";
import type { DeviceList } from "../devices/device-list.ts";
import { timestampAt } from "../records/chunk.ts";

/** Rows and devices visited before other work gets a turn: some milliseconds. */
const LOOKS_A_TURN = 4096;

/**
 * An index by minute of the app's late rows. A day is indexed when a query first needs it; from then on the index
 * follows the rows that come in, until rows of the day leave memory. It costs up to 4 bytes per row.
 */
export class LateMinutes {
  readonly #devices: Pick<DeviceList, "devices">;
  readonly #days = new Map<UtcDay, KnownDay>();

  constructor(devices: Pick<DeviceList, "devices">) {
    this.#devices = devices;
  }

  /** Adds a row that came in to the index of its day, if there is one. */
  note(day: UtcDay, timestampMs: number, device: number): void {
    if (this.#days.size > 0) this.#days.get(day)?.index.add(timestampMs, device);
  }

  /** Drops the index of a day, some of whose rows have left memory. */
  forget(day: UtcDay): void {
    this.#days.delete(day);
  }

  /**
   * The index of a day, once it has all rows. It stays valid for the caller, who may hold on to it, even if the rows
   * leave memory meanwhile.
   */
  async indexOf(day: UtcDay): Promise<MinuteIndex> {
    let known = this.#days.get(day);
    if (known === undefined) {
      const index = new MinuteIndex();
      known = { index, isWhole: this.#lookThrough(day, index) };
      this.#days.set(day, known);
    }
    try {
      await known.isWhole;
    } catch (error) {
      if (this.#days.get(day) === known) this.#days.delete(day); // The next query tries again.
      throw error;
    }
    return known.index;
  }

  /** Adds the day's rows. A row that comes in meanwhile may be added twice, which is harmless. */
  async #lookThrough(day: UtcDay, index: MinuteIndex): Promise<void> {
    await nextTurn(); // By now `#days` has the index, so `note()` adds what comes in.
    const [startMs, endMs] = [utcDayStartMs(day), utcDayStartMs(nextUtcDay(day))];
    let looks = 0;
    for (const device of this.#devices.devices()) {
      if (device === null) {
        await nextTurn();
        continue;
      }
      const { number } = device;
      const from = device.countBefore(startMs);
      const to = device.countBefore(endMs);
      device.runs(from, to, (chunk, rowFrom, rowTo) => {
        for (let row = rowFrom; row < rowTo; row++) index.add(timestampAt(chunk, row), number);
      });
      looks += 1 + (to - from) / 16; // Rows that lie together cost less than devices.
      if (looks < LOOKS_A_TURN) continue;
      looks = 0;
      await nextTurn();
    }
  }
}

interface KnownDay {
  readonly index: MinuteIndex;
  /** Resolves when all rows of the day are in the index. */
  readonly isWhole: Promise<void>;
}

/** A minute that has rows. */
export interface Minute {
  readonly startMs: number;
  readonly endMs: number;
  /** At least the number of rows. */
  readonly rows: number;
}

/**
 * Which devices have rows in which minutes of a day. It may list too many devices and count too many rows, because rows
 * are only added: an index may be built while rows come and go.
 */
export class MinuteIndex {
  /** By minutes since 1970. */
  readonly #minutes = new Map<number, DevicesOfMinute>();

  add(timestampMs: number, device: number): void {
    const number = Math.floor(timestampMs / MS_PER_MINUTE);
    let minute = this.#minutes.get(number);
    if (minute === undefined) {
      minute = new DevicesOfMinute();
      this.#minutes.set(number, minute);
    }
    minute.add(device);
  }

  /** The minutes that have rows in a range, in order of time. */
  minutes({ startMs, endMs }: TimeRange): Minute[] {
    return this.#numbersWithin(startMs, endMs).map((number) => ({
      startMs: number * MS_PER_MINUTE,
      endMs: (number + 1) * MS_PER_MINUTE,
      rows: this.#minutes.get(number)!.rows,
    }));
  }

  /** The devices of the minutes that a range touches. A device may occur several times. */
  *devices({ startMs, endMs }: TimeRange): Iterable<number> {
    for (const number of this.#numbersWithin(startMs, endMs)) yield* this.#minutes.get(number)!.devices();
  }

  #numbersWithin(startMs: number, endMs: number): number[] {
    const first = Math.floor(startMs / MS_PER_MINUTE);
    return [...this.#minutes.keys()]
      .filter((number) => number >= first && number * MS_PER_MINUTE < endMs)
      .sort((a, b) => a - b);
  }
}

const DEVICES_INITIAL = 2; // Most minutes have few late rows.

class DevicesOfMinute {
  rows = 0;
  #devices = new Uint32Array(DEVICES_INITIAL);
  #count = 0;

  /** Rows of a device mostly come together; the device is then stored once. */
  add(device: number): void {
    this.rows++;
    if (this.#count > 0 && this.#devices[this.#count - 1] === device) return;
    if (this.#count === this.#devices.length) this.#devices = grown(this.#devices);
    this.#devices[this.#count++] = device;
  }

  /** All devices, including those added while the caller iterates. */
  *devices(): Iterable<number> {
    for (let index = 0; index < this.#count; index++) yield this.#devices[index]!;
  }
}
