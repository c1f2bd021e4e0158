import type { DaysAnswer } from "../api/answers.ts";
import type { Api } from "../api/api.ts";
import { retryingSentenceOf, sentenceOf } from "../api/api-error.ts";
import { type LocalDay, parseDay } from "../time/local-day.ts";

/** What a device did on a local day with reports. */
export interface DayFacts {
  readonly day: LocalDay;
  readonly reports: number;
  readonly distanceMeters: number;
  readonly movingSeconds: number;
  readonly stops: number;
  /** Meters per second; null if no report had a speed. */
  readonly speedMax: number | null;
}

/** Days of some years, as far as they are loaded. */
export interface LoadedDays {
  readonly days: readonly DayFacts[];
  readonly isLoading: boolean;
  /** Whether reports are missing that the operator gave up as lost. */
  readonly isIncomplete: boolean;
  /** Why days are missing; null if none are. */
  readonly fault: string | null;
}

export interface DaysQuestion {
  readonly deviceId: string;
  readonly zone: string;
  /** Each is one request, since the server answers at most 366 days. */
  readonly years: readonly number[];
}

interface CachedYear {
  days: readonly DayFacts[];
  isLoaded: boolean;
  isIncomplete: boolean;
  fault: string | null;
  /** The device's newest report when the year was requested. */
  newestMs: number | null;
  /** When it was requested. */
  requestedMs: number;
}

export interface FactsParts {
  readonly api: Pick<Api, "get" | "retries">;
  /** The time of a device's newest report, Unix ms; null if it is unknown. */
  readonly newestMs: (deviceId: string) => number | null;
  readonly changed: () => void;
  readonly now?: () => number;
}

/** Always the same list, so that a view can see that nothing has changed. */
const NO_DAYS: readonly DayFacts[] = [];

/** A device may report every second: old days stay visible, and are loaded again only after this time. */
const REFRESH_MS = 30_000;
/** Twenty years of a few devices; a year of days is some 50 kB. */
const YEARS_MAX = 100;

/**
 * The days of devices, cached by device, zone and year until the device reports again. One year is loaded at a time, so
 * that ten years don't occupy the server's whole archive.
 */
export class FactsCache {
  readonly #parts: FactsParts;
  readonly #now: () => number;
  readonly #years = new Map<string, CachedYear>();
  #session = new AbortController();
  #isLoading = false;

  constructor(parts: FactsParts) {
    this.#parts = parts;
    this.#now = parts.now ?? Date.now;
  }

  /** Returns what is loaded, and loads what is missing or old, newest year first. Then `changed` is called. */
  look({ deviceId, zone, years }: DaysQuestion): LoadedDays {
    const newestMs = this.#parts.newestMs(deviceId);
    const cached = years.map((year) => this.#years.get(keyOf(deviceId, zone, year)));
    for (let index = years.length - 1; index >= 0 && !this.#isLoading; index--) {
      const known = cached[index];
      const isOld =
        known !== undefined &&
        known.newestMs !== newestMs &&
        this.#now() > known.requestedMs + REFRESH_MS &&
        known.fault === null;
      if (known === undefined || isOld) void this.#load(deviceId, zone, years[index]!, newestMs);
    }
    return {
      days: cached.length === 1 ? (cached[0]?.days ?? NO_DAYS) : cached.flatMap((year) => year?.days ?? []),
      isLoading: cached.some((year) => year === undefined || (!year.isLoaded && year.fault === null)),
      isIncomplete: cached.some((year) => year?.isIncomplete === true),
      fault: cached.find((year) => year !== undefined && year.fault !== null)?.fault ?? null,
    };
  }

  /** Loads failed years again, at once. */
  retry(): void {
    if (this.#isLoading) this.#parts.api.retries.wake();
    else for (const [key, { fault }] of this.#years) if (fault !== null) this.#years.delete(key);
    this.#parts.changed();
  }

  /** Forgets everything at the end of a session. */
  clear(): void {
    this.#session.abort();
    this.#session = new AbortController();
    this.#years.clear();
    this.#isLoading = false;
  }

  async #load(deviceId: string, zone: string, year: number, newestMs: number | null): Promise<void> {
    const { api, changed } = this.#parts;
    const { signal } = this.#session;
    const key = keyOf(deviceId, zone, year);
    const before = this.#years.get(key);
    const next: CachedYear = {
      days: before?.days ?? [],
      isLoaded: before?.isLoaded ?? false,
      isIncomplete: before?.isIncomplete ?? false,
      fault: null,
      newestMs,
      requestedMs: this.#now(),
    };
    this.#years.delete(key); // Entries are in the order of their use.
    this.#years.set(key, next);
    if (this.#years.size > YEARS_MAX) this.#years.delete(this.#years.keys().next().value!);
    this.#isLoading = true;
    const path = `/api/v1/devices/${encodeURIComponent(deviceId)}/days`;
    const query = { start_date: `${year}-01-01`, end_date: `${year}-12-31`, timezone: zone };
    const onPause = (error: Parameters<typeof retryingSentenceOf>[0]) => {
      next.fault = retryingSentenceOf(error);
      changed();
    };
    try {
      const answer = await api.retries.ask(() => api.get<DaysAnswer>(path, query, signal), {
        signal,
        onPause,
      });
      if (signal.aborted) return;
      next.days = answer.days.flatMap(factsOf);
      next.isIncomplete = answer.incomplete === true;
      next.isLoaded = true;
      next.fault = null;
    } catch (error) {
      if (signal.aborted) return;
      next.fault = sentenceOf(error);
    }
    this.#isLoading = false;
    changed();
  }
}

function keyOf(deviceId: string, zone: string, year: number): string {
  return `${year} ${zone} ${deviceId}`;
}

function factsOf(answer: DaysAnswer["days"][number]): DayFacts | [] {
  const day = parseDay(answer.date);
  if (day === null) return [];
  const { reports, distance_meters, moving_seconds, stops, speed_max } = answer;
  return {
    ...{ day, reports, stops, distanceMeters: distance_meters, movingSeconds: moving_seconds },
    speedMax: speed_max ?? null,
  };
}
