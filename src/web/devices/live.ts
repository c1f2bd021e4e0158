import { ApiError, sentenceOf } from "../api/api-error.ts";
import type { Retries } from "../api/retries.ts";
import { browserTimers, type Timers } from "../time/timers.ts";
import type { Columns, DeviceTable, LiveRecord } from "./device-table.ts";
import { type SseEvent, streamedEvents, watchedBytes } from "./event-stream.ts";

/* Keeps the table of devices up to date. */

export type LiveState = "starting" | "live" | "reconnecting" | "stopped";

export interface LiveDependencies {
  /** Throws an `ApiError` if the request fails. */
  readonly fetch: (path: string, init: RequestInit) => Promise<Response>;
  readonly table: DeviceTable;
  /** Called when the state or the table changes. */
  readonly changed: () => void;
  readonly retries: Retries;
  readonly timers?: Timers;
}

const SNAPSHOT_PATH = "/api/v1/locations/current/columns?fields=speed,bearing&profiles=true";
const STREAM_PATH = "/api/v1/live?profiles=true";
/** An event of this many records takes half a frame, so the stream yields to the page after it. */
const LONG_EVENT_RECORDS = 1000;

/**
 * Keeps the table of devices up to date: loads a snapshot, then follows the live stream from there. After a lost
 * connection it resumes the stream, or loads another snapshot if the server can't resume it.
 */
export class LiveDevices {
  readonly #fetch: LiveDependencies["fetch"];
  readonly #table: DeviceTable;
  readonly #changed: () => void;
  readonly #retries: Retries;
  readonly #timers: Timers;
  #state: LiveState = "stopped";
  #fault: string | null = null;
  #retryAtMs: number | null = null;
  /** The position in the stream that the table has reached; null before the first snapshot. */
  #lastId: string | null = null;
  /** The position of the snapshot, which may have newer records than the events up to there. */
  #snapshotSequence = 0;
  /** Whether a correction has hidden all positions of a device that may be in the table. */
  #hasRemoved = false;
  /** Aborts the connection; null while there is none. */
  #work: AbortController | null = null;
  #isBegun = false;
  /** How many connections have failed since the last event. */
  #failures = 0;

  constructor({ fetch, table, changed, retries, timers = browserTimers }: LiveDependencies) {
    this.#fetch = fetch;
    this.#table = table;
    this.#changed = changed;
    this.#retries = retries;
    this.#timers = timers;
  }

  get state(): LiveState {
    return this.#state;
  }

  /** Whether a snapshot was loaded in this session, so that an empty table means that there are no devices. */
  get isFilled(): boolean {
    return this.#lastId !== null;
  }

  /** Why the stream isn't live; null if it is, or if the reason is unknown. */
  get fault(): string | null {
    return this.#fault;
  }

  /** When the next attempt to connect begins; null during an attempt, and if none is needed. */
  get retryAtMs(): number | null {
    return this.#retryAtMs;
  }

  /** Starts the stream at the begin of a session. */
  begin(): void {
    if (this.#isBegun) return;
    this.#isBegun = true;
    this.#enter("starting");
    this.wake();
  }

  /** Stops the stream at the end of a session, and removes all positions from memory. */
  end(): void {
    if (!this.#isBegun) return;
    this.#isBegun = false;
    this.sleep();
    this.#lastId = null;
    this.#failures = 0;
    this.#table.clear();
    this.#enter("stopped");
  }

  /** Closes the connection until `wake`, while the page is hidden. */
  sleep(): void {
    this.#work?.abort();
    this.#work = null;
  }

  /** Connects, unless a connection exists or is being opened. */
  wake(): void {
    if (!this.#isBegun || this.#work !== null) return;
    this.#work = new AbortController();
    if (this.#state !== "starting") this.#enter("reconnecting");
    void this.#keepUp(this.#work.signal);
  }

  async #keepUp(signal: AbortSignal): Promise<void> {
    for (;;) {
      let failure: unknown = null;
      try {
        await this.#connect(signal);
      } catch (error) {
        failure = error;
      }
      if (signal.aborted) return;
      const error = failure instanceof ApiError ? failure : null;
      if (error?.isRefusal) {
        this.#work = null; // `wake` may try again, when the user wants it or the page becomes visible.
        return this.#enter("stopped", sentenceOf(error));
      }
      await this.#pause(error, signal);
      if (signal.aborted) return;
    }
  }

  /** Returns when the connection ends, and throws if it fails. */
  async #connect(signal: AbortSignal): Promise<void> {
    if (this.#lastId === null) await this.#loadSnapshot(signal);
    if (this.#lastId === null) return; // The session has ended meanwhile.
    const headers = { "last-event-id": this.#lastId };
    const response = await this.#fetch(STREAM_PATH, { headers, signal });
    for await (const event of streamedEvents(response, this.#timers)) {
      if (signal.aborted) return;
      await this.#apply(event, signal);
    }
  }

  /** Applies an event, and only then remembers its id: after an interruption the server sends the event again. */
  async #apply({ type, data, id }: SseEvent, signal: AbortSignal): Promise<void> {
    if (type === "removed") this.#hasRemoved = true;
    if (type === "reset") {
      await this.#loadSnapshot(signal);
    } else if (type === "message" && data !== null) {
      const { locations } = JSON.parse(data) as { readonly locations: readonly LiveRecord[] };
      // After a correction a device is where it was before.
      this.#table.update(locations, Number(id) > this.#snapshotSequence);
      if (locations.length >= LONG_EVENT_RECORDS) await new Promise((resolve) => setTimeout(resolve));
    }
    // The end of the entry. Rows of the table can't be removed one by one, and it is rare.
    if (this.#hasRemoved && type === "message") await this.#loadSnapshot(signal);
    if (signal.aborted) return;
    if (id !== null) this.#lastId = id;
    this.#failures = 0;
    this.#enter("live");
  }

  async #loadSnapshot(signal: AbortSignal): Promise<void> {
    const response = await this.#fetch(SNAPSHOT_PATH, { signal });
    const decoder = new TextDecoder();
    let text = "";
    for await (const bytes of watchedBytes(response, this.#timers))
      text += decoder.decode(bytes, { stream: true });
    const columns = JSON.parse(text) as Columns; // Throws if the body was cut off.
    signal.throwIfAborted();
    this.#table.fill(columns);
    this.#lastId = String(columns.sequence);
    this.#snapshotSequence = columns.sequence;
    this.#hasRemoved = false;
    this.#changed();
  }

  async #pause(error: ApiError | null, signal: AbortSignal): Promise<void> {
    const retryAfterSeconds = error?.retryAfterSeconds ?? null;
    await this.#retries.pause(++this.#failures, retryAfterSeconds, signal, (retryAtMs) => {
      this.#retryAtMs = retryAtMs;
      this.#enter("reconnecting", error === null ? null : sentenceOf(error));
    });
    this.#retryAtMs = null;
    this.#changed();
  }

  #enter(state: LiveState, fault: string | null = null): void {
    const isBack = state === "live" && this.#state !== "live";
    this.#state = state;
    this.#fault = fault;
    this.#changed();
    if (isBack) this.#retries.wake();
  }
}

/** How long a hidden page keeps its connection. */
const HIDDEN_MS_MAX = 60_000;

export interface SeenOptions {
  /** The document, whose visibility decides. */
  readonly page?: EventTarget & { readonly hidden: boolean };
  readonly timers?: Timers;
}

/** Closes the stream once the page has been hidden for a minute, and opens it when the page is visible again. */
export function liveWhileSeen(
  live: Pick<LiveDevices, "sleep" | "wake">,
  { page = document, timers = browserTimers }: SeenOptions = {},
): void {
  let stopHiding = () => {};
  const look = () => {
    stopHiding();
    if (page.hidden) stopHiding = timers.after(HIDDEN_MS_MAX, () => live.sleep());
    else live.wake();
  };
  look(); // A page may be opened in a background tab.
  page.addEventListener("visibilitychange", look);
}
