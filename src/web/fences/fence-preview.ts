import type { TrackAnswer } from "../api/answers.ts";
import { type Api, isGivenUp, pathWith } from "../api/api.ts";
import { sentenceOf } from "../api/api-error.ts";
import type { Place } from "../geo/earth.ts";
import type { EventMark } from "../map/fence-marks.ts";
import { addDays, dayAt, rangeOf, type TimeRange } from "../time/local-day.ts";
import { browserTimers, type Timers } from "../time/timers.ts";
import type { FenceEvent } from "./fence.ts";

/* What a geofence or an alert would have said of the past, before it is saved. */

export type PreviewSpan = "today" | "yesterday" | "week";

export interface FencePreviewParts {
  readonly api: Pick<Api, "fetch" | "get">;
  readonly map: {
    flyTo(place: Place & { readonly zoom?: number }): void;
    readonly fences: { setEvents(marks: readonly EventMark[]): void };
  };
  /** The path of all geofences, or of all alerts. */
  readonly path: string;
  readonly zones: { readonly zone: string };
  readonly changed: () => void;
  readonly nowMs?: () => number;
  readonly timers?: Timers;
}

interface PreviewAnswer {
  readonly events: readonly FenceEvent[];
  readonly incomplete?: true;
  readonly pagination: { readonly total_count: number };
}

/** The page lists the first ones. */
const EVENTS_MAX = 1000;
/** A year of a large fleet takes its time, and the answer begins when it is done. */
const ANSWER_MS_MAX = 300_000;
const TICK_MS = 1000;
const DAY_MS = 86_400_000;
/** Only the last position matters, and the ends of a simplified track are exact. */
const COARSE_METERS = 1000;
const EVENT_ZOOM = 16;

/** Asks what a geofence or an alert would have said. A running question can be canceled. */
export class FencePreview {
  readonly #parts: FencePreviewParts;
  #request = new AbortController();
  #stopTicking = () => {};
  #state: "idle" | "running" | "done" | "failed" = "idle";
  #startedMs = 0;
  span: PreviewSpan = "yesterday";
  /** What was asked about; null before the first question. */
  range: TimeRange | null = null;
  events: readonly FenceEvent[] = [];
  total = 0;
  /** Whether records are missing that the operator gave up as lost. */
  isIncomplete = false;
  fault: string | null = null;
  /** The event that the map shows. */
  shown: FenceEvent | null = null;

  constructor(parts: FencePreviewParts) {
    this.#parts = parts;
  }

  get state(): "idle" | "running" | "done" | "failed" {
    return this.#state;
  }

  /** How long the question has been running. */
  get elapsedMs(): number {
    return this.#now() - this.#startedMs;
  }

  choose(span: PreviewSpan): void {
    this.span = span;
    this.#parts.changed();
  }

  async run(watch: unknown): Promise<void> {
    this.#forget();
    const { api, zones, path: all, changed } = this.#parts;
    const { signal } = this.#request;
    this.range = previewRange(this.span, zones.zone, this.#now());
    this.#state = "running";
    this.#startedMs = this.#now();
    this.#tick();
    changed();
    const { startMs, endMs } = this.range;
    const path = pathWith(`${all}/preview`, { start: startMs, end: endMs, limit: EVENTS_MAX });
    const headers = { "content-type": "application/json" };
    try {
      const init = { method: "POST", headers, body: JSON.stringify(watch), signal };
      const response = await api.fetch(path, init, { answerMsMax: ANSWER_MS_MAX });
      const text = await readPieces(response, (beginning) => {
        if (signal.aborted) return;
        this.events = eventsOf(beginning) ?? this.events;
        changed();
      });
      const { events, pagination, incomplete = false } = JSON.parse(text) as PreviewAnswer;
      this.events = events;
      this.total = pagination.total_count;
      this.isIncomplete = incomplete;
      this.#state = "done";
    } catch (error) {
      if (signal.aborted || isGivenUp(error)) return;
      this.fault = sentenceOf(error);
      this.#state = "failed";
    }
    this.#stopTicking();
    changed();
  }

  /** Ends a running question, or forgets its answer. Returns whether there was one. */
  cancel(): boolean {
    const wasIdle = this.#state === "idle";
    this.#forget();
    this.#parts.changed();
    return !wasIdle;
  }

  /** Shows where the device was at an event. */
  async show(event: FenceEvent): Promise<void> {
    const { api, map, changed } = this.#parts;
    const { signal } = this.#request;
    this.shown = event;
    changed();
    try {
      const path = `/api/v1/devices/${encodeURIComponent(event.device_id)}/track`;
      // A device that fell silent was there earlier.
      const query = {
        ...{ start: event.timestamp - DAY_MS, end: event.timestamp + 1, tolerance_meters: COARSE_METERS },
      };
      const place = lastPlace(await api.get<TrackAnswer>(path, query, signal));
      if (place === null || this.shown !== event) return;
      map.fences.setEvents([{ ...place, kind: event.kind }]);
      map.flyTo({ ...place, zoom: EVENT_ZOOM });
    } catch (error) {
      if (signal.aborted) return;
      this.fault = sentenceOf(error);
      changed();
    }
  }

  #tick(): void {
    const { changed, timers = browserTimers } = this.#parts;
    this.#stopTicking = timers.after(TICK_MS, () => {
      changed();
      this.#tick();
    });
  }

  #forget(): void {
    this.#request.abort();
    this.#request = new AbortController();
    this.#stopTicking();
    this.#state = "idle";
    this.events = [];
    this.total = 0;
    this.isIncomplete = false;
    this.fault = null;
    this.shown = null;
    this.#parts.map.fences.setEvents([]);
  }

  #now(): number {
    return this.#parts.nowMs?.() ?? Date.now();
  }
}

/** Calls `onPiece` with all that has come of a text, whenever more has come. */
async function readPieces(response: Response, onPiece: (beginning: string) => void): Promise<string> {
  const decoder = new TextDecoder();
  const reader = response.body!.getReader();
  let text = "";
  for (;;) {
    const { done, value } = await reader.read();
    if (done) return text + decoder.decode();
    text += decoder.decode(value, { stream: true });
    onPiece(text);
  }
}

/** The events in the beginning of an answer; null if it ends within a name that has a brace. */
export function eventsOf(beginning: string): readonly FenceEvent[] | null {
  const lastEnd = beginning.lastIndexOf("}");
  try {
    return (JSON.parse(`${beginning.slice(0, lastEnd + 1)}]}`) as PreviewAnswer).events;
  } catch {
    return null;
  }
}

/** Days are those of the zone; today and the last 7 days end now. */
export function previewRange(span: PreviewSpan, zone: string, nowMs: number): TimeRange {
  if (span === "today") return { startMs: rangeOf(dayAt(nowMs, zone), zone).startMs, endMs: nowMs };
  if (span === "yesterday") return rangeOf(addDays(dayAt(nowMs, zone), -1), zone);
  return { startMs: nowMs - 7 * DAY_MS, endMs: nowMs };
}

/** The shortest one that has the instant; the longest if none has. */
export function spanOf(ms: number, zone: string, nowMs: number): PreviewSpan {
  const spans: readonly PreviewSpan[] = ["today", "yesterday"];
  const has = ({ startMs, endMs }: TimeRange) => ms >= startMs && ms < endMs;
  return spans.find((span) => has(previewRange(span, zone, nowMs))) ?? "week";
}

function lastPlace({ latitude, longitude }: TrackAnswer): Place | null {
  const last = latitude.length - 1;
  return last < 0 ? null : { latitude: latitude[last]!, longitude: longitude[last]! };
}
