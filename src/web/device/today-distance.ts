import type { DaysAnswer } from "../api/answers.ts";
import type { Api } from "../api/api.ts";
import type { LocalDay } from "../time/local-day.ts";

interface TodayParts {
  readonly api: Pick<Api, "get">;
  readonly changed: () => void;
}

/** The day of a device, and the time of its newest report. */
export interface TodayQuestion {
  readonly deviceId: string;
  readonly today: LocalDay;
  readonly zone: string;
  readonly newestMs: number;
}

/** While a device reports, its distance is loaded this often. */
const REFRESH_MS = 60_000;

/** How far the chosen device has moved today, for a page that shows another day of it. */
export class TodayDistance {
  readonly #parts: TodayParts;
  #question: TodayQuestion | null = null;
  #meters: number | null = null;
  #request = new AbortController();

  constructor(parts: TodayParts) {
    this.#parts = parts;
  }

  /** The distance in meters; null while it is not known. Loads it when it is first asked for, and when it is old. */
  look(question: TodayQuestion): number | null {
    const known = this.#question;
    const isSame =
      known?.deviceId === question.deviceId && known.today === question.today && known.zone === question.zone;
    if (!isSame) this.#meters = null;
    if (!isSame || question.newestMs >= known.newestMs + REFRESH_MS) void this.#load(question);
    return this.#meters;
  }

  async #load(question: TodayQuestion): Promise<void> {
    const { api, changed } = this.#parts;
    const { deviceId, today, zone } = question;
    this.#question = question;
    this.#request.abort();
    this.#request = new AbortController();
    const { signal } = this.#request;
    const path = `/api/v1/devices/${encodeURIComponent(deviceId)}/days`;
    const query = { start_date: today, end_date: today, timezone: zone };
    try {
      const { days } = await api.get<DaysAnswer>(path, query, signal);
      if (signal.aborted) return;
      this.#meters = days[0]?.distance_meters ?? 0;
    } catch {
      return; // The tile stays empty; the next report loads it again.
    }
    changed();
  }
}
