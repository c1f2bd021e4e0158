import { ApiError } from "../api/api-error.ts";
import type { Retries } from "../api/retries.ts";
import type { FenceEvent } from "../fences/fence.ts";
import { browserTimers, type Timers } from "../time/timers.ts";
import { streamedEvents } from "./event-stream.ts";

/* The live stream of what happens at geofences and alerts. */

export interface LiveEventsParts {
  /** Throws an `ApiError` if the request fails. */
  readonly fetch: (path: string, init: RequestInit) => Promise<Response>;
  readonly retries: Retries;
  readonly timers?: Timers;
}

/** Gets new events and changed ones; null if some may be missing, so that lists are loaded anew. */
export type EventsListener = (events: readonly FenceEvent[] | null) => void;

const STREAM_PATH = "/api/v1/live?types=event&late=true";

/** Follows the events of the app while anything on the page shows them: browsers have few connections to a server. */
export class LiveEvents {
  readonly #parts: LiveEventsParts;
  readonly #listeners = new Set<EventsListener>();
  /** Where a later connection goes on; null before the first one. */
  #lastId: string | null = null;
  #work: AbortController | null = null;

  constructor(parts: LiveEventsParts) {
    this.#parts = parts;
  }

  /** Returns a function that ends it. */
  follow(listener: EventsListener): () => void {
    this.#listeners.add(listener);
    this.wake();
    return () => {
      this.#listeners.delete(listener);
      if (this.#listeners.size > 0) return;
      this.sleep();
      this.#lastId = null;
    };
  }

  /** Closes the connection until `wake`, while the page is hidden. */
  sleep(): void {
    this.#work?.abort();
    this.#work = null;
  }

  wake(): void {
    if (this.#listeners.size === 0 || this.#work !== null) return;
    this.#work = new AbortController();
    void this.#keepUp(this.#work.signal);
  }

  /** Connects again until the server refuses; `wake` then tries once more. */
  async #keepUp(signal: AbortSignal): Promise<void> {
    const { retries } = this.#parts;
    for (let failures = 1; ; failures++) {
      let failure: ApiError | null = null;
      try {
        if (await this.#connect(signal)) failures = 0;
      } catch (error) {
        failure = error instanceof ApiError ? error : null;
      }
      if (signal.aborted) return;
      if (failure?.isRefusal) {
        this.#work = null;
        return;
      }
      await retries.pause(failures, failure?.retryAfterSeconds ?? null, signal, () => undefined);
      if (signal.aborted) return;
    }
  }

  /** Returns whether any event came, once the connection has ended. */
  async #connect(signal: AbortSignal): Promise<boolean> {
    const { fetch, timers = browserTimers } = this.#parts;
    const headers = this.#lastId === null ? {} : { "last-event-id": this.#lastId };
    const response = await fetch(STREAM_PATH, { headers, signal });
    let hasCome = false;
    for await (const { type, data, id } of streamedEvents(response, timers)) {
      if (signal.aborted) return hasCome;
      hasCome = true;
      if (type === "reset") this.#tell(null);
      else if (data !== null) this.#tell((JSON.parse(data) as { events: readonly FenceEvent[] }).events);
      if (id !== null) this.#lastId = id;
    }
    return hasCome;
  }

  #tell(events: readonly FenceEvent[] | null): void {
    if (events?.length === 0) return;
    for (const listener of [...this.#listeners]) listener(events);
  }
}
