import { html, nothing, type TemplateResult } from "lit-html";
import type { Api } from "../api/api.ts";
import { type ApiError, retryingSentenceOf, sentenceOf } from "../api/api-error.ts";
import type { LiveEvents } from "../devices/live-events.ts";
import type { FenceEvent } from "../fences/fence.ts";
import { eventText } from "../fences/fence-texts.ts";
import { WatchNames } from "../fences/watch-names.ts";
import type { Place } from "../geo/earth.ts";
import { areOfSame, type History } from "../history/history.ts";
import { headAt } from "../history/track.ts";
import type { EventMark } from "../map/fence-marks.ts";
import { faultNote } from "../shell/fault-note.ts";
import { positionTime } from "../time/format.ts";

/* What geofences and alerts have told of the shown days: a list, and marks on the line. */

export interface DayEventsParts {
  readonly api: Pick<Api, "get" | "retries">;
  readonly map: { readonly fences: { setDayEvents(marks: readonly EventMark[]): void } };
  readonly liveEvents: Pick<LiveEvents, "follow">;
  readonly nowMs?: () => number;
  readonly changed: () => void;
}

interface EventsAnswer {
  readonly events: readonly FenceEvent[];
  readonly pagination: { readonly has_more: boolean };
}

/** The list ends after this many. */
const EVENTS_MAX = 500;
/** As long as the list of stops can be. */
const DAYS_MAX = 31;

/** The events of the chosen device in the shown days. */
export class DayEvents {
  readonly #parts: DayEventsParts;
  readonly #names: WatchNames;
  /** Ends the following of the chosen device. */
  #unfollow = () => {};
  #history: History | null = null;
  #request = new AbortController();
  #events: readonly FenceEvent[] = [];
  #hasMore = false;
  #fault: string | null = null;

  constructor(parts: DayEventsParts) {
    this.#parts = parts;
    this.#names = new WatchNames(parts.api);
  }

  get events(): readonly FenceEvent[] {
    return this.#events;
  }

  get hasMore(): boolean {
    return this.#hasMore;
  }

  get fault(): string | null {
    return this.#fault;
  }

  /** Loads the events of these days; null if none are shown. Those of the same days stay until the answer. */
  use(history: History | null): void {
    const isSame = areOfSame(history, this.#history);
    if (history === this.#history) return;
    this.#history = history;
    if (!isSame) this.#set([], false);
    const hasEvents = history !== null && !history.isView && history.span.days <= DAYS_MAX;
    const source = hasEvents ? history : null;
    if (!isSame) this.#follow(source);
    this.#reload(source);
  }

  /** While the days go on, loads again whenever something happens to the device. */
  #follow(history: History | null): void {
    this.#unfollow();
    this.#unfollow = () => {};
    const { liveEvents, nowMs = Date.now } = this.#parts;
    if (history === null || history.range.endMs < nowMs()) return;
    this.#unfollow = liveEvents.follow((events) => {
      const isOfDevice = events?.some(({ device_id }) => device_id === history.deviceId) ?? true;
      if (isOfDevice) this.#reload(this.#history);
    });
  }

  #reload(history: History | null): void {
    this.#request.abort();
    this.#request = new AbortController();
    if (history !== null) void this.#load(history, this.#request.signal);
  }

  /** What the geofence or the alert of an event is called. */
  nameOf(event: FenceEvent): string {
    return this.#names.nameOf(event);
  }

  /** Where the device was at an event; null if that is not known. */
  placeOf({ timestamp }: FenceEvent): Place | null {
    return this.#history === null ? null : headAt(this.#history.track, timestamp);
  }

  async #load({ deviceId, range }: History, signal: AbortSignal): Promise<void> {
    const { api, changed } = this.#parts;
    const path = `/api/v1/devices/${encodeURIComponent(deviceId)}/events`;
    const query = { start: range.startMs, end: range.endMs, limit: EVENTS_MAX };
    const fail = (fault: string) => {
      this.#fault = fault;
      changed();
    };
    const onPause = (error: ApiError) => fail(retryingSentenceOf(error));
    try {
      const ask = () => api.get<EventsAnswer>(path, query, signal);
      const { events, pagination } = await api.retries.ask(ask, { signal, onPause });
      await this.#names.learn(events, signal);
      this.#fault = null;
      this.#set(events, pagination.has_more);
      changed();
    } catch (error) {
      if (!signal.aborted) fail(sentenceOf(error));
    }
  }

  #set(events: readonly FenceEvent[], hasMore: boolean): void {
    this.#events = events;
    this.#hasMore = hasMore;
    const marks = events.flatMap((event) => {
      const place = this.placeOf(event);
      return place === null
        ? []
        : [{ latitude: place.latitude, longitude: place.longitude, kind: event.kind }];
    });
    this.#parts.map.fences.setDayEvents(marks);
  }
}

interface EventListParts {
  readonly events: DayEvents;
  readonly history: History;
  readonly onEvent: (event: FenceEvent) => void;
}

/** The events of the shown days; nothing if there are none. */
export function eventList({ events, history, onEvent }: EventListParts): TemplateResult | typeof nothing {
  const { fault } = events;
  if (events.events.length === 0 && fault === null) return nothing;
  return html`<h3>Geofences and alerts</h3>
    ${fault === null ? nothing : faultNote(fault, null)}
    <ol class="day-events">${events.events.map(
      (event) => html`<li><button @click=${() => onEvent(event)}>
        <span class="event-mark" data-kind=${event.kind}></span>
        <span class="name">${events.nameOf(event)}</span>
        <span>${eventText(event)}</span>
        <span class="soft">${positionTime(event.timestamp, history.zone, history.span)}</span>
      </button></li>`,
    )}</ol>
    ${events.hasMore ? html`<p class="soft">The first ${EVENTS_MAX} are listed.</p>` : nothing}`;
}
