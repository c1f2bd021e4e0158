import type { CurrentRecord } from "../api/answers.ts";
import type { Api } from "../api/api.ts";
import { type ApiError, retryingSentenceOf, sentenceOf } from "../api/api-error.ts";
import { type History, readCurrent, readHistory } from "../history/history.ts";
import { addDays, Calendar, DAY, dayAt, type LocalDay, rangeOf, type Span } from "../time/local-day.ts";

/** The newest position of every device, as they come in. */
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
  /** What a share link shows; null where everything is shown. */
  readonly viewOf: () => { readonly not_before: number } | null;
  readonly onChoose: (id: string | null) => void;
  /** The user has asked for a device, or for other days of it; the history comes later. */
  readonly onAsk: () => void;
  readonly onHistory: (history: History | null) => void;
  readonly changed: () => void;
}

/** What a line that grows lacks, of reports that came late or many at once, is asked for this often. */
const REFRESH_MS = 30_000;
/** The same for what the stream doesn't tell: battery, height, the place nearby. */
const REFRESH_CURRENT_MS = 10_000;

/** Nothing is asked for again while its answer may yet come, and be the older one. */
const UNDER_WAY = Number.POSITIVE_INFINITY;

/** The device that is looked at, and the day, or the several days, that are looked at of it. */
export class ChosenDevice {
  readonly #parts: ChosenParts;
  readonly #calendar = new Calendar();
  #id: string | null = null;
  /** The day that the user chose; null for today, also after midnight, or for the last day with reports. */
  #day: LocalDay | null = null;
  /** The last day with reports, shown if today has none; null if today or a day that the user chose is shown. */
  #lastDay: LocalDay | null = null;
  /** Whether the last day may be opened: once, and not if the user has asked for today. */
  #mayOpenLastDay = false;
  #span: Span = DAY;
  #current: CurrentRecord | null = null;
  /** When it was last asked for; never, while it is. */
  #currentMs = 0;
  /** Whether something was reported since. */
  #isCurrentOld = false;
  #history: History | null = null;
  /** The same. */
  #historyMs = 0;
  #isHistoryOld = false;
  #asking = new AbortController();
  #isLoading = false;
  #historyFault: string | null = null;
  #currentFault: string | null = null;

  constructor(parts: ChosenParts) {
    this.#parts = parts;
    parts.devices.onChange(() => this.#takeLive());
  }

  get id(): string | null {
    return this.#id;
  }

  /** Where it is, and what else it reported last; null until the server has said. */
  get current(): CurrentRecord | null {
    return this.#current;
  }

  /** Of the device that is chosen; while another day is asked for, that of the day before. */
  get history(): History | null {
    return this.#history;
  }

  get isLoading(): boolean {
    return this.#isLoading;
  }

  /** Why a part of what the page shows of the device is missing. */
  get fault(): string | null {
    return this.#historyFault ?? this.#currentFault;
  }

  get day(): LocalDay {
    return this.#day ?? this.#lastDay ?? this.today;
  }

  /** The day that the user chose; null if today, or the last day in its place, is shown. */
  get askedDay(): LocalDay | null {
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

  get zone(): string {
    return this.#parts.zones.zone;
  }

  /** Whether less is shown, to whoever came by a share link. */
  get isView(): boolean {
    return this.#parts.viewOf() !== null;
  }

  choose(id: string | null): void {
    if (id === this.#id) return;
    this.#asking.abort();
    this.#id = id;
    this.#current = null;
    this.#show(null);
    this.#lastDay = null;
    this.#mayOpenLastDay = true;
    this.#openLastDay();
    this.#parts.onChoose(id);
    if (id === null) this.#parts.changed();
    else this.#ask();
  }

  /** Shows the span of days that ends with `day`. Null is today, and so is any later day. */
  look(day: LocalDay | null, span: Span = this.#span): void {
    this.#day = day === null || day >= this.today ? null : day;
    this.#span = span;
    this.#lastDay = null;
    this.#mayOpenLastDay = day === null;
    this.#ask();
  }

  /** As many days later, or earlier, as are looked at; nowhere while no device is chosen, whose days one would see. */
  move(spans: number): void {
    if (this.#id !== null) this.look(addDays(this.day, spans * this.#span.days));
  }

  /** Asks for everything again: in another zone a day is another stretch of time. */
  reload(): void {
    if (this.#id === null) return;
    this.#asking.abort();
    this.#asking = new AbortController();
    this.#isLoading = true;
    this.#historyFault = null;
    this.#currentFault = null;
    if (this.#lastDay !== null) this.#lastDay = this.#lastReportDay();
    this.#parts.changed();
    void this.#readHistory(this.#id, this.#asking.signal);
    void this.#readCurrent(this.#id, this.#asking.signal);
  }

  /** Once a second: asks for what has become old, where something was reported since. */
  refresh(nowMs: number): void {
    if (this.#id === null || this.#isLoading) return;
    if (this.#history !== null && this.#history.day !== this.day) {
      this.reload(); // Midnight has passed.
      return;
    }
    const { signal } = this.#asking;
    if (this.#isCurrentOld && nowMs > this.#currentMs + REFRESH_CURRENT_MS)
      void this.#readCurrent(this.#id, signal);
    if (this.#isHistoryOld && nowMs > this.#historyMs + REFRESH_MS) void this.#readHistory(this.#id, signal);
  }

  #ask(): void {
    this.#parts.onAsk();
    this.reload();
  }

  async #readHistory(deviceId: string, signal: AbortSignal): Promise<void> {
    const { api } = this.#parts;
    const { day, span, zone, isView } = this;
    const question = { deviceId, day, zone, span, range: rangeOf(day, zone, span.days), isView };
    this.#historyMs = UNDER_WAY;
    this.#isHistoryOld = false;
    const fail = (fault: string) => {
      if (!this.#isLoading) return; // What there was before is still good.
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
      if (this.#openLastDay()) return this.#ask();
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
    this.#takeLive();
    this.#parts.changed();
    if (this.#openLastDay()) this.#ask();
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
    const { devices } = this.#parts;
    const row = this.#id === null ? undefined : devices.rowOf(this.#id);
    const lastMs = this.#current?.timestamp ?? (row === undefined ? null : devices.timestampMs[row]!);
    if (lastMs === null) return null;
    const last = dayAt(lastMs, this.zone);
    return last < addDays(this.today, 1 - this.#span.days) ? last : null;
  }

  /** Takes what is newer than what the server has said. */
  #takeLive(): void {
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

  /** Adds the newest position to the line, where it is of the range; whether it was added. */
  #grow(): boolean {
    if (this.#history === null || this.#current === null) return false;
    const { range, track } = this.#history;
    const { timestamp, latitude, longitude } = this.#current;
    if (timestamp < range.startMs || timestamp >= range.endMs) return false;
    if (!track.append(timestamp, latitude, longitude)) return false;
    this.#parts.onHistory(this.#history);
    return true;
  }

  #show(history: History | null): void {
    this.#history = history;
    this.#parts.onHistory(history);
  }
}

function known(value: number): number | undefined {
  return Number.isNaN(value) ? undefined : value;
}
