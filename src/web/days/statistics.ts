import type { NearPlace, StopsAnswer } from "../api/answers.ts";
import type { Api } from "../api/api.ts";
import type { LocalDay } from "../time/local-day.ts";
import { type Month, monthOf, type Weekday } from "./calendar-grid.ts";
import { type Grouping, moveAnchor, type Period, periodsOf, stopRanges } from "./periods.ts";

export interface StatisticsParts {
  readonly api: Pick<Api, "get" | "retries">;
  readonly chosen: { readonly id: string | null; readonly zone: string; readonly today: LocalDay };
  readonly first: () => Weekday;
  readonly changed: () => void;
}

/** The number of places of one month; null while it loads, or if it can't be loaded. */
interface MonthPlaces {
  readonly key: string;
  readonly count: number | null;
}

/** The statistics of the chosen device: which page of days, weeks, months or years is open. */
export class Statistics {
  readonly #parts: StatisticsParts;
  #anchor: LocalDay | null = null;
  #grouping: Grouping = "day";
  #places: MonthPlaces = { key: "", count: null };
  #request = new AbortController();

  constructor(parts: StatisticsParts) {
    this.#parts = parts;
  }

  /** The first day of the week. */
  get first(): Weekday {
    return this.#parts.first();
  }

  get isOpen(): boolean {
    return this.#anchor !== null;
  }

  /** A day of the page; null while the statistics are closed. */
  get anchor(): LocalDay | null {
    return this.#anchor;
  }

  get grouping(): Grouping {
    return this.#grouping;
  }

  get periods(): readonly Period[] {
    const { today } = this.#parts.chosen;
    return this.#anchor === null ? [] : periodsOf(this.#grouping, this.#anchor, this.first, today);
  }

  get isLastPage(): boolean {
    const { today } = this.#parts.chosen;
    if (this.#anchor === null) return true;
    return (
      periodsOf(this.#grouping, moveAnchor(this.#grouping, this.#anchor, 1), this.first, today).length === 0
    );
  }

  open(day: LocalDay): void {
    this.show("day", day);
  }

  show(grouping: Grouping, anchor: LocalDay): void {
    const { today } = this.#parts.chosen;
    this.#grouping = grouping;
    this.#anchor = anchor > today ? today : anchor;
    this.#parts.changed();
  }

  move(pages: number): void {
    if (this.#anchor !== null) this.show(this.#grouping, moveAnchor(this.#grouping, this.#anchor, pages));
  }

  close(): void {
    this.#anchor = null;
    this.#parts.changed();
  }

  /** Forgets everything at the end of a session. */
  forget(): void {
    this.forgetPlaces();
    this.close();
  }

  forgetPlaces(): void {
    this.#request.abort();
    this.#places = { key: "", count: null };
  }

  /** How many different places have stops in the page's month. Loads the stops when the month is first asked for. */
  countPlaces(): number | null {
    const { id, zone } = this.#parts.chosen;
    if (id === null || this.#anchor === null || this.#grouping !== "day") return null;
    const month = monthOf(this.#anchor);
    const key = `${month} ${zone} ${id}`;
    if (key !== this.#places.key) {
      this.#places = { key, count: null };
      this.#request.abort();
      this.#request = new AbortController();
      void this.#loadPlaces(id, month, zone, this.#request.signal);
    }
    return this.#places.count;
  }

  async #loadPlaces(id: string, month: Month, zone: string, signal: AbortSignal): Promise<void> {
    const { api, changed } = this.#parts;
    const path = `/api/v1/devices/${encodeURIComponent(id)}/stops`;
    const key = `${month} ${zone} ${id}`;
    const names = new Set<string>();
    try {
      for (const { startMs, endMs } of stopRanges(month, zone)) {
        const query = { start: startMs, end: endMs, places: true };
        const read = () => api.get<StopsAnswer>(path, query, signal);
        const { stops } = await api.retries.ask(read, { signal, onPause: () => undefined });
        for (const { place } of stops) if (place) names.add(nameOf(place));
      }
      if (signal.aborted) return;
      this.#places = { key, count: names.size };
    } catch {
      return; // A dash stands for the number; all others of the page are there.
    }
    changed();
  }
}

function nameOf({ name, country }: NearPlace): string {
  return `${country} ${name}`;
}
