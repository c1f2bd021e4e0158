import { ApiError, sentenceOf } from "../api/api-error.ts";
import type { Retries } from "../api/retries.ts";
import { browserTimers, type Timers } from "../time/timers.ts";
import type { Columns, DeviceTable, LiveRecord } from "./device-table.ts";
import { type SseEvent, SseParser, watchedBytes } from "./event-stream.ts";

/* Keeps the table of devices as it is at the server. */

export type LiveState = "starting" | "live" | "reconnecting" | "stopped";

export interface LiveDependencies {
  /** Throws an `ApiError` where there is no good answer. */
  readonly fetch: (path: string, init: RequestInit) => Promise<Response>;
  readonly table: DeviceTable;
  /** Called when the state is another, or the table. */
  readonly changed: () => void;
  readonly retries: Retries;
  readonly timers?: Timers;
}

const SNAPSHOT_PATH = "/api/v1/locations/current/columns?fields=speed,bearing";
const STREAM_PATH = "/api/v1/live";
/** The server says something every 15 s. */
const SILENCE_MS_MAX = 40_000;
/** To take so many records fills half a frame: the page has its turn before the next event. */
const LONG_EVENT_RECORDS = 1000;

/**
 * A snapshot, then the live stream from there, for as long as somebody is signed in and looks. A lost connection goes
 * on where it was; where that is not possible any more there is another snapshot.
 */
export class LiveDevices {
  readonly #fetch: LiveDependencies["fetch"];
  readonly #table: DeviceTable;
  readonly #changed: () => void;
  readonly #retries: Retries;
  readonly #timers: Timers;
  #state: LiveState = "stopped";
  #sequence = 0;
  #fault: string | null = null;
  #retryAtMs: number | null = null;
  /** Up to where the table has everything; null until it has a snapshot. */
  #lastId: string | null = null;
  /** Ends what is under way; null while nothing is. */
  #work: AbortController | null = null;
  #isBegun = false;
  /** Tries to connect since the last event. */
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

  /** Whether the table has had a snapshot in this session: an empty one says that there are no devices. */
  get isFilled(): boolean {
    return this.#lastId !== null;
  }

  /** The newest entry of the server's log that was heard of. */
  get sequence(): number {
    return this.#sequence;
  }

  /** Why it isn't live; null where it is, or nobody knows. */
  get fault(): string | null {
    return this.#fault;
  }

  /** When the next try to connect is made; null while it is being made, or none is needed. */
  get retryAtMs(): number | null {
    return this.#retryAtMs;
  }

  /** Somebody is signed in. */
  begin(): void {
    if (this.#isBegun) return;
    this.#isBegun = true;
    this.#enter("starting");
    this.wake();
  }

  /** The session has ended: no place of any device stays in memory. */
  end(): void {
    if (!this.#isBegun) return;
    this.#isBegun = false;
    this.sleep();
    this.#lastId = null;
    this.#sequence = 0;
    this.#failures = 0;
    this.#table.clear();
    this.#enter("stopped");
  }

  /** Lets go of the connection until `wake`: nobody looks. */
  sleep(): void {
    this.#work?.abort();
    this.#work = null;
  }

  /** Connects, unless it is connected or about to be. */
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
        this.#work = null; // `wake` may try once more: the user asks for it, or the page is seen again.
        return this.#enter("stopped", sentenceOf(error));
      }
      await this.#pause(error, signal);
      if (signal.aborted) return;
    }
  }

  /** Until the connection ends, or fails. */
  async #connect(signal: AbortSignal): Promise<void> {
    if (this.#lastId === null) await this.#takeSnapshot(signal);
    if (this.#lastId === null) return; // The session has ended meanwhile.
    const body = await this.#open(STREAM_PATH, { "last-event-id": this.#lastId }, signal);
    const parser = new SseParser();
    const decoder = new TextDecoder();
    for await (const bytes of watchedBytes(body, SILENCE_MS_MAX, this.#timers)) {
      for (const event of parser.push(decoder.decode(bytes, { stream: true }))) {
        if (signal.aborted) return;
        await this.#take(event, signal);
      }
    }
  }

  /** Only what was taken to its end counts as heard: anything else comes again. */
  async #take({ type, data, id }: SseEvent, signal: AbortSignal): Promise<void> {
    if (type === "reset") {
      await this.#takeSnapshot(signal);
    } else if (type === "message" && data !== null) {
      const { locations } = JSON.parse(data) as { readonly locations: readonly LiveRecord[] };
      this.#table.update(locations);
      if (locations.length >= LONG_EVENT_RECORDS) await new Promise((resolve) => setTimeout(resolve));
    }
    if (signal.aborted) return;
    if (id !== null) {
      this.#lastId = id;
      this.#sequence = Math.max(this.#sequence, Number(id));
    }
    this.#failures = 0;
    this.#enter("live");
  }

  /** The stream goes on from there. */
  async #takeSnapshot(signal: AbortSignal): Promise<void> {
    const body = await this.#open(SNAPSHOT_PATH, {}, signal);
    const decoder = new TextDecoder();
    let text = "";
    for await (const bytes of watchedBytes(body, SILENCE_MS_MAX, this.#timers))
      text += decoder.decode(bytes, { stream: true });
    const columns = JSON.parse(text) as Columns; // Fails where it was cut off.
    signal.throwIfAborted();
    this.#table.fill(columns);
    this.#sequence = columns.sequence;
    this.#lastId = String(columns.sequence);
    this.#changed();
  }

  async #open(
    path: string,
    headers: Readonly<Record<string, string>>,
    signal: AbortSignal,
  ): Promise<ReadableStream<Uint8Array>> {
    const { body } = await this.#fetch(path, { headers, signal });
    return body ?? new Blob().stream();
  }

  async #pause(error: ApiError | null, signal: AbortSignal): Promise<void> {
    const asked = error?.retryAfterSeconds ?? null;
    await this.#retries.pause(++this.#failures, asked, signal, (retryAtMs) => {
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

/** After this long, another page of the browser may need the connection more than a hidden one. */
const HIDDEN_MS_MAX = 60_000;

export interface SeenOptions {
  /** Says whether the page is seen. */
  readonly page?: EventTarget & { readonly hidden: boolean };
  readonly timers?: Timers;
}

/** Closes the stream once the page has been hidden for a minute, and goes on when the page is seen again. */
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
  look(); // It may be opened behind others.
  page.addEventListener("visibilitychange", look);
}
