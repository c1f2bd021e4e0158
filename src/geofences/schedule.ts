import { firstInstantMs, type LocalDate, utcMidnightMs } from "../model/time/range.ts";
import { MS_PER_DAY, MS_PER_MINUTE } from "../model/time/units.ts";
import type { Zone } from "../model/time/zone.ts";

/** Days of the week as `weekly` names them; Monday is 0. */
export const WEEKDAYS = ["mon", "tue", "wed", "thu", "fri", "sat", "sun"] as const;

/** Hours that repeat each week. `to` at or before `from` is on the next day. */
export interface WeeklyHours {
  /** Indexes of `WEEKDAYS`: the days on which the hours begin. */
  readonly days: readonly number[];
  /** Minutes of the local clock since midnight, 0 to 1,440. */
  readonly fromMinutes: number;
  readonly toMinutes: number;
}

/** Until when the schedule stays as it is at an instant; `Infinity` if it never changes. */
export interface ScheduleSpan {
  readonly isOpen: boolean;
  readonly endMs: number;
}

/** Instants from `startMs` to before `endMs`. */
interface Opening {
  readonly startMs: number;
  readonly endMs: number;
}

/** Hours begin on one of the two days before, and clocks may change meanwhile. */
const DAYS_BEFORE = 2;
/** Hours that go on for longer than a week fill the week, so that only an exception ends them. */
const WEEK_DAYS = 8;
/** Weeks without hours besides those that exceptions take: hours that clocks skip once a year. */
const EMPTY_WEEKS_MAX = 3;
const MONDAY_MS = 4 * MS_PER_DAY; // 1970-01-05.

/**
 * When a fence or an alert is in force: hours of the week in a time zone, except on some dates. Hours that touch or
 * overlap are one opening. A time that clocks skip is the instant at which they go on; of a time that they show twice,
 * the first counts.
 */
export class Schedule {
  readonly #zone: Zone;
  readonly #weekly: readonly WeeklyHours[];
  /** Midnights of the excepted dates as if the zone were UTC, in order. */
  readonly #except: readonly number[];
  /** The last answer is valid from `#fromMs` on: neighboring questions share it. */
  #fromMs = Infinity;
  #span: ScheduleSpan = { isOpen: false, endMs: -Infinity };

  constructor(zone: Zone, weekly: readonly WeeklyHours[], except: readonly LocalDate[]) {
    this.#zone = zone;
    this.#weekly = weekly;
    this.#except = except.map(utcMidnightMs).sort((a, b) => a - b);
  }

  spanAt(timestampMs: number): ScheduleSpan {
    if (timestampMs >= this.#fromMs && timestampMs < this.#span.endMs) return this.#span;
    const endMs = this.#endOfOpening(timestampMs);
    const isOpen = endMs > timestampMs;
    this.#fromMs = timestampMs;
    this.#span = { isOpen, endMs: isOpen ? endMs : this.#nextStart(timestampMs) };
    return this.#span;
  }

  /** The end of the opening that contains an instant; that instant if there is none. */
  #endOfOpening(timestampMs: number): number {
    let endMs = timestampMs;
    for (;;) {
      const nextMs = this.#openingsAround(endMs)
        .filter((opening) => opening.startMs <= endMs)
        .reduce((latest, opening) => Math.max(latest, opening.endMs), endMs);
      if (nextMs === endMs) return endMs;
      endMs = nextMs;
      if (endMs - timestampMs <= WEEK_DAYS * MS_PER_DAY) continue;
      const today = this.#localDay(endMs);
      const exception = this.#except.find((midnightMs) => midnightMs >= today - MS_PER_DAY);
      if (exception === undefined) return Infinity;
      if (exception > today + MS_PER_DAY) endMs = firstInstantMs(exception - MS_PER_DAY, this.#zone);
    }
  }

  #nextStart(timestampMs: number): number {
    const today = this.#localDay(timestampMs);
    const days = 7 * (this.#except.length + EMPTY_WEEKS_MAX);
    for (let day = 0; day < days; day++) {
      const starts = this.#openingsFrom(today + day * MS_PER_DAY)
        .map(({ startMs }) => startMs)
        .filter((startMs) => startMs > timestampMs);
      if (starts.length > 0) return Math.min(...starts);
    }
    return Infinity;
  }

  #openingsAround(timestampMs: number): readonly Opening[] {
    const today = this.#localDay(timestampMs);
    return Array.from({ length: DAYS_BEFORE + 1 }, (_, back) =>
      this.#openingsFrom(today - back * MS_PER_DAY),
    ).flat();
  }

  /** The openings that begin on a day, which is given by its midnight as if the zone were UTC. */
  #openingsFrom(midnightMs: number): readonly Opening[] {
    if (this.#except.includes(midnightMs)) return [];
    const weekday = Math.floor((midnightMs - MONDAY_MS) / MS_PER_DAY) % 7;
    return this.#weekly
      .filter(({ days }) => days.includes((weekday + 7) % 7))
      .map(({ fromMinutes, toMinutes }) => ({
        startMs: this.#instant(midnightMs, fromMinutes),
        endMs: this.#instant(midnightMs + (toMinutes > fromMinutes ? 0 : MS_PER_DAY), toMinutes),
      }))
      .filter(({ startMs, endMs }) => startMs < endMs);
  }

  #instant(midnightMs: number, minutes: number): number {
    return firstInstantMs(midnightMs + minutes * MS_PER_MINUTE, this.#zone);
  }

  /** The midnight before an instant on local clocks, as if the zone were UTC. */
  #localDay(timestampMs: number): number {
    const localMs = timestampMs + this.#zone.offsetMinutesAt(timestampMs) * MS_PER_MINUTE;
    return Math.floor(localMs / MS_PER_DAY) * MS_PER_DAY;
  }
}
