import type { Api } from "../api/api.ts";
import { type ApiError, retryingSentenceOf, sentenceOf } from "../api/api-error.ts";
import type { LiveEvents } from "../devices/live-events.ts";
import type { FenceEvent } from "./fence.ts";
import { WatchNames } from "./watch-names.ts";

export interface RecentEventsParts {
  readonly api: Pick<Api, "get" | "retries">;
  readonly liveEvents: Pick<LiveEvents, "follow">;
  readonly zones: { readonly zone: string };
  readonly table: { labelOf(id: string): string };
  readonly chosen: { choose(id: string): void };
  readonly changed: () => void;
}

const EVENTS_MAX = 100;

/** The newest events of the app, as they come. */
export class RecentEvents {
  readonly #parts: RecentEventsParts;
  readonly #names: WatchNames;
  /** Aborted when the list is closed. */
  #life = new AbortController();
  #unfollow: (() => void) | null = null;
  #events: readonly FenceEvent[] = [];
  #isLoaded = false;
  #fault: string | null = null;

  constructor(parts: RecentEventsParts) {
    this.#parts = parts;
    this.#names = new WatchNames(parts.api);
  }

  /** The newest first. */
  get events(): readonly FenceEvent[] {
    return this.#events;
  }

  get isLoaded(): boolean {
    return this.#isLoaded;
  }

  get fault(): string | null {
    return this.#fault;
  }

  get zone(): string {
    return this.#parts.zones.zone;
  }

  nameOf(event: FenceEvent): string {
    return this.#names.nameOf(event);
  }

  labelOf(deviceId: string): string {
    return this.#parts.table.labelOf(deviceId);
  }

  /** Chooses the device of an event. */
  choose({ device_id }: FenceEvent): void {
    this.#parts.chosen.choose(device_id);
  }

  /** Loads the list and follows the stream. */
  open(): void {
    this.close();
    this.#life = new AbortController();
    const { signal } = this.#life;
    this.#unfollow = this.#parts.liveEvents.follow((events) => {
      if (events === null) void this.#load(signal);
      else void this.#take(events, signal);
    });
    void this.#load(signal);
  }

  close(): void {
    this.#life.abort();
    this.#unfollow?.();
    this.#unfollow = null;
    this.#events = [];
    this.#isLoaded = false;
    this.#fault = null;
  }

  async #load(signal: AbortSignal): Promise<void> {
    const { api } = this.#parts;
    const onPause = (error: ApiError) => this.#fail(retryingSentenceOf(error));
    try {
      const query = { order: "desc", limit: EVENTS_MAX };
      const ask = () => api.get<{ readonly events: readonly FenceEvent[] }>("/api/v1/events", query, signal);
      const { events } = await api.retries.ask(ask, { signal, onPause });
      this.#isLoaded = true;
      await this.#take(events, signal);
    } catch (error) {
      if (!signal.aborted) this.#fail(sentenceOf(error));
    }
  }

  /** Adds events to the list, or replaces those of the same ids. */
  async #take(events: readonly FenceEvent[], signal: AbortSignal): Promise<void> {
    this.#events = newestOf(this.#events, events);
    this.#fault = null;
    this.#parts.changed();
    try {
      await this.#names.learn(this.#events, signal);
      this.#parts.changed();
    } catch (error) {
      if (!signal.aborted) this.#fail(sentenceOf(error));
    }
  }

  #fail(fault: string): void {
    this.#fault = fault;
    this.#parts.changed();
  }
}

/** The highest revision of each event, without those that did not happen, the newest first. */
export function newestOf(known: readonly FenceEvent[], more: readonly FenceEvent[]): readonly FenceEvent[] {
  const byId = new Map<string, FenceEvent>();
  for (const event of [...known, ...more]) {
    const before = byId.get(event.id ?? "");
    if (before === undefined || (event.revision ?? 0) >= (before.revision ?? 0))
      byId.set(event.id ?? "", event);
  }
  return [...byId.values()]
    .filter(({ withdrawn }) => withdrawn !== true)
    .sort((a, b) => b.timestamp - a.timestamp)
    .slice(0, EVENTS_MAX);
}
