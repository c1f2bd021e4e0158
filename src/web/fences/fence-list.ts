import type { Api } from "../api/api.ts";
import { type ApiError, retryingSentenceOf, sentenceOf } from "../api/api-error.ts";
import { browserTimers, type Timers } from "../time/timers.ts";
import { FENCES_PATH, type Fence, type FencesAnswer, fencePath } from "./fence.ts";

export interface FenceListParts {
  readonly api: Pick<Api, "get" | "retries">;
  readonly changed: () => void;
  readonly timers?: Timers;
}

const PAGE_FENCES = 50;
/** A search waits until the user stops typing. */
const SETTLE_MS = 200;

/** The geofences of the app, page by page, or those that a search finds. */
export class FenceList {
  readonly #parts: FenceListParts;
  #request = new AbortController();
  #stopSettling = () => {};
  #fences: readonly Fence[] = [];
  #state: "loading" | "loaded" | "failed" = "loading";
  query = "";
  /** How many there are; null until the first answer. */
  total: number | null = null;
  hasMore = false;
  fault: string | null = null;

  constructor(parts: FenceListParts) {
    this.#parts = parts;
  }

  get fences(): readonly Fence[] {
    return this.#fences;
  }

  get state(): "loading" | "loaded" | "failed" {
    return this.#state;
  }

  search(text: string): void {
    this.query = text;
    this.#stopSettling();
    const { timers = browserTimers } = this.#parts;
    this.#stopSettling = timers.after(SETTLE_MS, () => void this.load());
    this.#parts.changed();
  }

  /** Loads the first page anew. Until it is there, the list stays as it was. */
  load(): Promise<void> {
    return this.#load(0);
  }

  more(): Promise<void> {
    return this.#load(this.#fences.length);
  }

  /** The geofence of an id; null if it is no more, or can't be loaded, which the list then says. */
  async find(id: string): Promise<Fence | null> {
    const listed = this.#fences.find((fence) => fence.id === id);
    if (listed !== undefined) return listed;
    try {
      return (await this.#parts.api.get<{ readonly geofence: Fence }>(fencePath(id))).geofence;
    } catch (error) {
      this.#fail(sentenceOf(error));
      return null;
    }
  }

  /** Shows a geofence as it is now, without loading the list. */
  put(fence: Fence): void {
    const isListed = this.#fences.some(({ id }) => id === fence.id);
    this.#fences = isListed
      ? this.#fences.map((each) => (each.id === fence.id ? fence : each))
      : [...this.#fences, fence];
    if (!isListed && this.total !== null) this.total++;
  }

  remove(id: string): void {
    const rest = this.#fences.filter((fence) => fence.id !== id);
    if (rest.length < this.#fences.length && this.total !== null) this.total--;
    this.#fences = rest;
  }

  close(): void {
    this.#request.abort();
    this.#stopSettling();
  }

  async #load(offset: number): Promise<void> {
    this.close();
    this.#request = new AbortController();
    const { signal } = this.#request;
    const { api, changed } = this.#parts;
    this.#state = "loading";
    changed();
    const text = this.query.trim();
    const query = { text: text === "" ? null : text, limit: PAGE_FENCES, offset };
    const onPause = (error: ApiError) => this.#fail(retryingSentenceOf(error));
    try {
      const ask = () => api.get<FencesAnswer>(FENCES_PATH, query, signal);
      const { geofences, pagination } = await api.retries.ask(ask, { signal, onPause });
      // One that was deleted meanwhile moves the others forward.
      const known = new Set(offset === 0 ? [] : this.#fences.map(({ id }) => id));
      const added = geofences.filter(({ id }) => !known.has(id));
      this.#fences = offset === 0 ? geofences : [...this.#fences, ...added];
      this.total = pagination.total_count;
      this.hasMore = pagination.has_more;
      this.fault = null;
      this.#state = "loaded";
      changed();
    } catch (error) {
      if (!signal.aborted) this.#fail(sentenceOf(error));
    }
  }

  #fail(fault: string): void {
    this.#state = "failed";
    this.fault = fault;
    this.#parts.changed();
  }
}
