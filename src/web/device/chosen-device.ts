import type { CurrentRecord } from "../api/answers.ts";
import type { Api } from "../api/api.ts";
import { type ApiError, retryingSentenceOf, sentenceOf } from "../api/api-error.ts";
import { type History, readCurrent, readHistory } from "../history/history.ts";
import {
  addDays,
  Calendar,
  DAY,
  dayAt,
  type LocalDay,
  RECENT,
  RECENT_MS,
  rangeOf,
  SPANS,
  type Span,
  type TimeRange,
  VISITOR_SPANS,
} from "../time/local-day.ts";

/** The newest position of every device, kept up to date. */
export interface LivePositions {
  readonly timestampMs: ArrayLike<number>;
  readonly latitude: ArrayLike<number>;
  readonly longitude: ArrayLike<number>;
  readonly speedMetersPerSecond: ArrayLike<number>;
  readonly bearing: ArrayLike<number>;
  rowOf(id: string): number | undefined;
  onChange(listener: () => void): () => void;
}

export interface ChosenParts {
  readonly api: Pick<Api, "get" | "retries">;
  readonly zones: { readonly zone: string };
  readonly devices: LivePositions;
  /** The view of a share link; null for other users. */
  readonly viewOf: () => { readonly not_before: number } | null;
  readonly onChoose: (id: string | null) => void;
  /** The user has chosen a device, or other days of it; `onHistory` follows. */
  readonly onAsk: () => void;
  /**
   * `isRefresh` is true if only new reports of the device are the reason, and not the user or a change of its past.
   */
  readonly onHistory: (history: History | null, isRefresh: boolean) => void;
  readonly changed: () => void;
}

/** How often the history is reloaded: the live stream adds no late reports, and not each of many. */
const REFRESH_MS = 30_000;
/** How often the values that the stream lacks are reloaded: battery, altitude, the place nearby. */
const REFRESH_CURRENT_MS = 10_000;

/** Prevents a reload while one is running, whose answer could arrive later and be older. */
const UNDER_WAY = Number.POSITIVE_INFINITY;

/** The chosen device, and the day or the days of it that are shown. */
export class ChosenDevice {
  readonly #parts: ChosenParts;
  readonly #calendar = new Calendar();
  #id: string | null = null;
  /** The day that the user chose; null for today, also after midnight, or for the last day with reports. */
  #day: LocalDay | null = null;
  /** The last day with reports, shown if today has none; null if today or a day that the user chose is shown. */
  #lastDay: LocalDay | null = null;
  /** Whether the last day may be opened: only once, and not if the user chose today. */
  #mayOpenLastDay = false;
  #span: Span = DAY;
  #current: CurrentRecord | null = null;
  /** When it was last loaded; `UNDER_WAY` while it is being loaded. */
  #currentMs = 0;
  /** Whether the device has reported since. */
  #isCurrentOld = false;
  #history: History | null = null;
  /** Like `#currentMs`. */
  #historyMs = 0;
  #isHistoryOld = false;
  #request = new AbortController();
  #isLoading = false;
  #historyFault: string | null = null;
  #currentFault: string | null = null;

  constructor(parts: ChosenParts) {
    this.#parts = parts;
    parts.devices.onChange(() => this.#updateFromLive());
  }

  get id(): string | null {
    return this.#id;
  }

  /** The newest record of the device; null until it is loaded. */
  get current(): CurrentRecord | null {
    return this.#current;
  }

  /** The history of the chosen device. While another day loads, it is that of the previous day. */
  get history(): History | null {
    return this.#history;
  }

  get isLoading(): boolean {
    return this.#isLoading;
  }

  /** Why a part of the device's data is missing. */
  get fault(): string | null {
    return this.#historyFault ?? this.#currentFault;
  }

  get day(): LocalDay {
    return this.#day ?? this.#lastDay ?? this.today;
  }

  /** The day that the user chose; null if today, or the last day in its place, is shown. */
  get requestedDay(): LocalDay | null {
    return this.#day;
  }

  get isToday(): boolean {
    return this.day === this.today;
  }

  get today(): LocalDay {
    return this.#calendar.today(this.zone, Date.now());
  }

  get span(): Span {
    return this.#span;
  }

  /** The spans to choose from. */
  get spans(): typeof SPANS {
    return this.isView ? VISITOR_SPANS : SPANS;
  }

  get zone(): string {
    return this.#parts.zones.zone;
  }

  /** Whether the user has a share link, which shows less. */
  get isView(): boolean {
    return this.#parts.viewOf() !== null;
  }

  choose(id: string | null): void {
    if (id === this.#id) return;
    this.#request.abort();
    this.#id = id;
    this.#current = null;
    this.#show(null);
    this.#lastDay = null;
    this.#mayOpenLastDay = true;
    this.#openLastDay();
    this.#parts.onChoose(id);
    if (id === null) this.#parts.changed();
    else this.#load();
  }

  /** Shows the span of days that ends with `day`. Null, like any later day, means today. */
  look(day: LocalDay | null, span: Span = this.#span): void {
    this.#day = day === null || day >= this.today ? null : day;
    this.#span = span === RECENT && this.#day !== null ? DAY : span;
    this.#lastDay = null;
    this.#mayOpenLastDay = day === null;
    this.#load();
  }

  /** Moves by a number of spans, forward or back. Does nothing without a chosen device. */
  move(spans: number): void {
    if (this.#id !== null) this.look(addDays(this.day, spans * this.#span.days));
  }

  /** Loads everything again, for instance because a day of another zone is another range of time. */
  reload(): void {
    if (this.#id === null) return;
    this.#request.abort();
    this.#request = new AbortController();
    this.#isLoading = true;
    this.#historyFault = null;
    this.#currentFault = null;
    if (this.#lastDay !== null) this.#lastDay = this.#lastReportDay();
    this.#parts.changed();
    void this.#readHistory(this.#id, this.#request.signal);
    void this.#readCurrent(this.#id, this.#request.signal);
  }

  /** Reloads what is old if the device has reported since. The page calls it once a second. */
  refresh(nowMs: number): void {
    if (this.#id === null || this.#isLoading) return;
    if (this.#history !== null && this.#history.day !== this.day) {
      this.reload(); // Midnight has passed.
      return;
    }
    const { signal } = this.#request;
    if (this.#isCurrentOld && nowMs > this.#currentMs + REFRESH_CURRENT_MS)
      void this.#readCurrent(this.#id, signal);
    if (this.#isHistoryOld && nowMs > this.#historyMs + REFRESH_MS) void this.#readHistory(this.#id, signal);
  }

  #load(): void {
    this.#parts.onAsk();
    this.reload();
  }

  async #readHistory(deviceId: string, signal: AbortSignal): Promise<void> {
    const { api } = this.#parts;
    const { day, span, zone, isView } = this;
    const question = { deviceId, day, zone, span, range: this.#range(), isView };
    this.#historyMs = UNDER_WAY;
    this.#isHistoryOld = false;
    const fail = (fault: string) => {
      if (!this.#isLoading) return; // A failed refresh leaves the previous history.
      this.#historyFault = fault;
      this.#show(null);
      this.#parts.changed();
    };
    const onPause = (error: ApiError) => fail(retryingSentenceOf(error));
    try {
      const history = await api.retries.ask(() => readHistory(api, question, signal), { signal, onPause });
      if (signal.aborted) return;
      this.#historyFault = null;
      this.#show(history);
      this.#grow();
      if (this.#openLastDay()) return this.#load();
    } catch (error) {
      if (signal.aborted) return;
      this.#isHistoryOld = !this.#isLoading;
      fail(sentenceOf(error));
    }
    this.#historyMs = Date.now();
    this.#isLoading = false;
    this.#parts.changed();
  }

  async #readCurrent(deviceId: string, signal: AbortSignal): Promise<void> {
    const { api } = this.#parts;
    this.#currentMs = UNDER_WAY;
    this.#isCurrentOld = false;
    const fail = (fault: string) => {
      if (this.#current !== null) return;
      this.#currentFault = fault;
      this.#parts.changed();
    };
    const onPause = (error: ApiError) => fail(retryingSentenceOf(error));
    try {
      const current = await api.retries.ask(() => readCurrent(api, deviceId, signal), { signal, onPause });
      if (signal.aborted) return;
      this.#current = current;
      this.#currentFault = null;
    } catch (error) {
      if (signal.aborted) return;
      this.#isCurrentOld = this.#current !== null;
      fail(sentenceOf(error));
    }
    this.#currentMs = Date.now();
    this.#updateFromLive();
    this.#parts.changed();
    if (this.#openLastDay()) this.#load();
  }

  /** Opens the last day with reports if the range that ends today has none. Returns whether it did. */
  #openLastDay(): boolean {
    if (this.#history !== null && this.#history.track.count > 0) this.#mayOpenLastDay = false;
    if (!this.#mayOpenLastDay || this.#day !== null) return false;
    this.#lastDay = this.#lastReportDay();
    if (this.#lastDay === null) return false;
    this.#mayOpenLastDay = false;
    return true;
  }

  /** The day of the last report; null if that is in the range that ends today, or not known yet. */
  #lastReportDay(): LocalDay | null {
    const lastMs = this.#lastReportMs();
    if (lastMs === null) return null;
    const last = dayAt(lastMs, this.zone);
    return last < addDays(this.today, 1 - this.#span.days) ? last : null;
  }

  /** When the device reported last; null if that is not known yet. */
  #lastReportMs(): number | null {
    const { devices } = this.#parts;
    const row = this.#id === null ? undefined : devices.rowOf(this.#id);
    return this.#current?.timestamp ?? (row === undefined ? null : devices.timestampMs[row]!);
  }

  /** A trail leads to the last report, however old that is. */
  #range(): TimeRange {
    const { day, zone } = this;
    const range = rangeOf(day, zone, this.#span.days);
    if (this.#span !== RECENT) return range;
    const nowMs = Date.now();
    return { ...range, startMs: Math.min(nowMs, this.#lastReportMs() ?? nowMs) - RECENT_MS };
  }

  /** Updates the newest record if the live table has a newer position. */
  #updateFromLive(): void {
    const { devices } = this.#parts;
    const row = this.#id === null ? undefined : devices.rowOf(this.#id);
    if (row === undefined || this.#current === null) return;
    const timestamp = devices.timestampMs[row]!;
    if (timestamp <= this.#current.timestamp) return;
    this.#current = {
      ...this.#current,
      timestamp,
      latitude: devices.latitude[row]!,
      longitude: devices.longitude[row]!,
      speed: known(devices.speedMetersPerSecond[row]!),
      bearing: known(devices.bearing[row]!),
    };
    this.#isCurrentOld = true;
    this.#isHistoryOld = this.#grow() || this.#isHistoryOld;
    this.#parts.changed();
  }

  /** Adds the newest position to the track if it is in the range; returns whether it was added. */
  #grow(): boolean {
    if (this.#history === null || this.#current === null) return false;
    const { range, track } = this.#history;
    const { timestamp, latitude, longitude } = this.#current;
    if (timestamp < range.startMs || timestamp >= range.endMs) return false;
    if (!track.append(timestamp, latitude, longitude)) return false;
    this.#parts.onHistory(this.#history, true);
    return true;
  }

  #show(history: History | null): void {
    this.#history = history;
    this.#parts.onHistory(history, history !== null && !this.#isLoading);
  }
}

function known(value: number): number | undefined {
  return Number.isNaN(value) ? undefined : value;
}
