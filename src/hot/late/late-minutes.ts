import { nextTurn } from "../../lib/schedule/timers.ts";
import { grown } from "../../lib/tables/columns.ts";
import type { TimeRange } from "../../model/time/range.ts";
import { MS_PER_MINUTE } from "../../model/time/units.ts";
import { nextUtcDay, type UtcDay, utcDayStartMs } from "../../model/time/utc-day.ts";
import type { DeviceList } from "../devices/device-list.ts";
import { timestampAt } from "../records/chunk.ts";

/** An index of an app's late rows, made when it is first asked for. */

/** Some milliseconds of work. */
const LOOKS_A_TURN = 4096;

/**
 * Where an app's rows of sealed days lie, by minute. A day is looked through when it is first asked for; from then on
 * it follows what comes in, until its rows leave memory. Costs up to 4 bytes a row.
 */
export class LateMinutes {
  readonly #devices: Pick<DeviceList, "devices">;
  readonly #days = new Map<UtcDay, KnownDay>();

  constructor(devices: Pick<DeviceList, "devices">) {
    this.#devices = devices;
  }

  /** A row has come in. */
  note(day: UtcDay, timestampMs: number, device: number): void {
    if (this.#days.size > 0) this.#days.get(day)?.index.add(timestampMs, device);
  }

  /** Rows of the day have left memory: it is looked through anew when it is asked for again. */
  forget(day: UtcDay): void {
    this.#days.delete(day);
  }

  /**
   * Where the day's rows lie, once all of them are known. Whoever asks holds on to it: it stays true of the rows that
   * were there, also where they leave memory meanwhile.
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
      if (this.#days.get(day) === known) this.#days.delete(day); // The next question looks anew.
      throw error;
    }
    return known.index;
  }

  /** Adds the day's rows. What comes in meanwhile is noted by both of us, which does no harm. */
  async #lookThrough(day: UtcDay, index: MinuteIndex): Promise<void> {
    await nextTurn(); // From here on the day is noted.
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

/** What is known of a minute of a day. */
export interface Minute {
  readonly startMs: number;
  readonly endMs: number;
  /** No fewer rows than there are. */
  readonly rows: number;
}

/**
 * Which devices have rows in which minutes of a day. It may name too many, and count too many rows: rows are added
 * and never taken out, so that whoever fills it may do so while rows come and go.
 */
export class MinuteIndex {
  /** By number of the minute since 1970. */
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

  /** The devices of the minutes that a range touches, some of them several times. */
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

const DEVICES_INITIAL = 2; // Late rows are mostly few.

class DevicesOfMinute {
  rows = 0;
  #devices = new Uint32Array(DEVICES_INITIAL);
  #count = 0;

  /** Rows of a device mostly come together, and then it is noted once. */
  add(device: number): void {
    this.rows++;
    if (this.#count > 0 && this.#devices[this.#count - 1] === device) return;
    if (this.#count === this.#devices.length) this.#devices = grown(this.#devices);
    this.#devices[this.#count++] = device;
  }

  /** Those that are there by now, and those that come while the caller looks. */
  *devices(): Iterable<number> {
    for (let index = 0; index < this.#count; index++) yield this.#devices[index]!;
  }
}
