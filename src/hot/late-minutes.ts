import { nextTurn } from "../lib/next-turn.ts";
import type { Order, TimeRange } from "../time/range.ts";
import { nextUtcDay, type UtcDay, utcDayOf, utcDayStartMs } from "../time/utc-day.ts";
import type { AppDevices } from "./app-devices.ts";
import { timestampAt } from "./chunk.ts";
import { type Minute, MinuteIndex } from "./minute-index.ts";

/** Some milliseconds of work. */
const LOOKS_A_TURN = 4096;

/**
 * Where an app's rows of sealed days lie, by minute. A day is looked through when it is first asked for; from then on
 * it follows what comes in, until its rows leave memory. Costs up to 4 bytes a row.
 */
export class LateMinutes {
  readonly #app: AppDevices;
  readonly #days = new Map<UtcDay, KnownDay>();

  constructor(app: AppDevices) {
    this.#app = app;
  }

  /** A row has come in. */
  note(day: UtcDay, timestampMs: number, device: number): void {
    if (this.#days.size > 0) this.#days.get(day)?.index.add(timestampMs, device);
  }

  /** Rows of the day have left memory: it is looked through anew when it is asked for again. */
  forget(day: UtcDay): void {
    this.#days.delete(day);
  }

  /** Resolves when all days of a range are known. */
  async know(range: TimeRange): Promise<void> {
    for (const day of daysOf(range)) {
      let known = this.#days.get(day);
      if (known === undefined) {
        const index = new MinuteIndex();
        known = { index, isWhole: this.#lookThrough(day, index) };
        this.#days.set(day, known);
      }
      await known.isWhole;
    }
  }

  /** Minutes that may have rows in a range of known days. */
  *minutes(range: TimeRange, order: Order): Iterable<Minute> {
    const days = daysOf(range);
    for (const day of order === "asc" ? days : days.reverse()) {
      const minutes = this.#days.get(day)?.index.minutes(range) ?? [];
      yield* order === "asc" ? minutes : minutes.reverse();
    }
  }

  /** Numbers of the devices that may have rows in a range of known days, each once. */
  *devices(range: TimeRange): Iterable<number> {
    let seen = new Uint8Array(this.#app.deviceNumbers);
    for (const day of daysOf(range)) {
      for (const device of this.#days.get(day)?.index.devices(range) ?? []) {
        if (device >= seen.length) seen = lengthened(seen, 2 * device + 1);
        if (seen[device] === 1) continue;
        seen[device] = 1;
        yield device;
      }
    }
  }

  /** Adds the day's rows. What comes in meanwhile is noted by both of us, which does no harm. */
  async #lookThrough(day: UtcDay, index: MinuteIndex): Promise<void> {
    await nextTurn(); // From here on the day is noted.
    const [startMs, endMs] = [utcDayStartMs(day), utcDayStartMs(nextUtcDay(day))];
    let looks = 0;
    for (const device of this.#app.list.devices()) {
      if (device === null) {
        await nextTurn();
        continue;
      }
      const { number, track } = device;
      const from = track.countBefore(startMs);
      const to = track.countBefore(endMs);
      track.runs(from, to, (chunk, rowFrom, rowTo) => {
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

function daysOf({ startMs, endMs }: TimeRange): UtcDay[] {
  const [first, last] = [utcDayOf(startMs), utcDayOf(endMs - 1)];
  return Array.from({ length: Math.max(0, last - first + 1) }, (_, index) => (first + index) as UtcDay);
}

function lengthened(bytes: Uint8Array<ArrayBuffer>, length: number): Uint8Array<ArrayBuffer> {
  const longer = new Uint8Array(length);
  longer.set(bytes);
  return longer;
}
