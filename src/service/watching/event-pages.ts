import type { AppId } from "../../model/ids.ts";
import type { EventStore } from "./event-store.ts";
import type { StoredEvent } from "./stored-event.ts";

const PAGES_MAX = 64;

/** Pages of events, in the order in which they were stored. Readers who have read equally far share what is read. */
export class EventPages {
  readonly #events: Pick<EventStore, "after">;
  readonly #limit: number;
  readonly #pages = new Map<string, readonly StoredEvent[]>();

  /** Pages have at most `limit` events. */
  constructor(events: Pick<EventStore, "after">, limit: number) {
    this.#events = events;
    this.#limit = limit;
  }

  /** The events of an app after a position. */
  after(appId: AppId, seq: number): readonly StoredEvent[] {
    const key = `${appId} ${seq}`;
    const known = this.#pages.get(key);
    if (known !== undefined) return known;
    const page = this.#events.after(appId, seq, this.#limit);
    if (this.#pages.size >= PAGES_MAX) this.#pages.clear();
    this.#pages.set(key, page);
    return page;
  }

  /** Forgets what was read, since events were stored or deleted. */
  clear(): void {
    this.#pages.clear();
  }
}
