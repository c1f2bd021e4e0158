import type { LocalDay } from "../time/local-day.ts";
import { dayByKey, type GridKey, sameDayOf, type Weekday, yearOf } from "./calendar-grid.ts";
import type { DayFacts } from "./day-facts.ts";

/** What the shades of the days stand for. */
export type ShadedBy = "distance" | "reports";

/** The calendar that picks a day: a year of months. The focused day is the one that the arrow keys move from. */
export class DayCalendar {
  readonly #first: () => Weekday;
  readonly #changed: () => void;
  #focused: LocalDay | null = null;
  #pointed: LocalDay | null = null;
  #shadedBy: ShadedBy = "distance";
  #today = "" as LocalDay;

  constructor(first: () => Weekday, changed: () => void) {
    this.#first = first;
    this.#changed = changed;
  }

  /** The first day of the week. */
  get first(): Weekday {
    return this.#first();
  }

  get isOpen(): boolean {
    return this.#focused !== null;
  }

  /** Null while the calendar is closed. */
  get focused(): LocalDay | null {
    return this.#focused;
  }

  /** The day whose facts are shown: the one under the pointer, or else the focused one. */
  get described(): LocalDay | null {
    return this.#pointed ?? this.#focused;
  }

  get shadedBy(): ShadedBy {
    return this.#shadedBy;
  }

  open(day: LocalDay, today: LocalDay): void {
    this.#today = today;
    this.#pointed = null;
    this.#focus(day);
  }

  close(): void {
    this.#focused = null;
    this.#changed();
  }

  shadeBy(shadedBy: ShadedBy): void {
    this.#shadedBy = shadedBy;
    this.#changed();
  }

  /** Moves the focus by a key of the grid; returns whether it is one. */
  press(key: GridKey): boolean {
    const next = this.#focused === null ? null : dayByKey(this.#focused, key, this.first);
    if (next === null) return false;
    this.#pointed = null;
    this.#focus(next);
    return true;
  }

  /** Shows another year, with the focus on the same day of it. */
  moveYear(years: number): void {
    if (this.#focused !== null) this.#focus(sameDayOf(this.#focused, years * 12));
  }

  mayMoveYear(years: number): boolean {
    return this.#focused !== null && yearOf(this.#focused) + years <= yearOf(this.#today);
  }

  point(day: LocalDay | null): void {
    if (day === this.#pointed) return;
    this.#pointed = day;
    this.#changed();
  }

  /** No day after today can have reports that are not a device's mistake. */
  #focus(day: LocalDay): void {
    this.#focused = day > this.#today ? this.#today : day;
    this.#changed();
  }
}

/** The values of the days in ascending order. */
export function sortedValues(days: readonly DayFacts[], shadedBy: ShadedBy): readonly number[] {
  return days.map((facts) => shadedValue(facts, shadedBy)).sort((a, b) => a - b);
}

export function shadedValue({ distanceMeters, reports }: DayFacts, shadedBy: ShadedBy): number {
  return shadedBy === "distance" ? distanceMeters : reports;
}
