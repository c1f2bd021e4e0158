import type { Api } from "../api/api.ts";
import type { History } from "../history/history.ts";
import type { SettingsValues } from "../settings/settings.ts";
import { type OutliersAnswer, readOutliers } from "./correction-requests.ts";
import type { Selection } from "./selection.ts";

/* The positions that are probably wrong. */

interface SuspectsParts {
  readonly api: Pick<Api, "get" | "retries">;
  readonly settings: AccuracySetting;
  readonly changed: () => void;
}

/** The accuracy from which positions are suspicious, which the browser remembers. */
export interface AccuracySetting {
  readonly values: Pick<SettingsValues, "accuracyMax">;
  set(change: Pick<SettingsValues, "accuracyMax">): void;
}

/** The server's limit. */
const DAYS_MAX = 31;
const NONE: OutliersAnswer = { total: 0, outliers: [] };
/** How often several days are searched again while the device reports: the server reads all of their positions. */
const REFRESH_MS = 5 * 60_000;

/** The suspicious positions of the shown days, which the server finds. */
export class Suspects {
  readonly #parts: SuspectsParts;
  #history: History | null = null;
  #request = new AbortController();
  #found = NONE;
  #askedMs = 0;

  constructor(parts: SuspectsParts) {
    this.#parts = parts;
  }

  get found(): OutliersAnswer {
    return this.#found;
  }

  /** Meters; null if the accuracy does not matter. */
  get accuracyMax(): SettingsValues["accuracyMax"] {
    return this.#parts.settings.values.accuracyMax;
  }

  /** Whether the shown days can be searched. */
  get canSearch(): boolean {
    return this.#history !== null && this.#history.span.days <= DAYS_MAX && this.#history.track.count > 0;
  }

  setAccuracyMax(accuracyMax: SettingsValues["accuracyMax"]): void {
    this.#parts.settings.set({ accuracyMax });
    this.#load();
  }

  /** Searches these days. An update of the same days shows the previous ones meanwhile. */
  use(
    history: History | null,
    { isSame, isRefresh }: { readonly isSame: boolean; readonly isRefresh: boolean },
  ): void {
    this.#history = history;
    if (!isSame) this.#found = NONE;
    const isLong = history !== null && history.span.days > 1;
    if (isSame && isRefresh && isLong && Date.now() < this.#askedMs + REFRESH_MS) return;
    this.#load();
  }

  /** Drops what has just been hidden or moved. */
  drop({ timestampMs }: Selection): void {
    const corrected = new Set(timestampMs);
    const { total, outliers } = this.#found;
    const left = outliers.filter(({ timestamp }) => !corrected.has(timestamp));
    this.#found = { total: total - (outliers.length - left.length), outliers: left };
  }

  #load(): void {
    this.#request.abort();
    this.#request = new AbortController();
    if (this.#history === null || !this.canSearch) {
      this.#found = NONE;
      return;
    }
    this.#askedMs = Date.now();
    void this.#read(this.#history, this.#request.signal);
  }

  async #read({ deviceId, range }: History, signal: AbortSignal): Promise<void> {
    const { api, changed } = this.#parts;
    const { accuracyMax } = this;
    try {
      const ask = () => readOutliers(api, deviceId, range, accuracyMax, signal);
      this.#found = await api.retries.ask(ask, { signal, onPause: () => undefined });
    } catch {
      return; // A suggestion that is missing is no fault.
    }
    changed();
  }
}
