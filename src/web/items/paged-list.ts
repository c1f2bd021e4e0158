import type { Api } from "../api/api.ts";
import { type ApiError, retryingSentenceOf, sentenceOf } from "../api/api-error.ts";
import { browserTimers, type Timers } from "../time/timers.ts";

export interface ListParts {
  readonly api: Pick<Api, "get" | "retries">;
  readonly changed: () => void;
  readonly timers?: Timers;
}

/** Where the items of a list come from. */
export interface ListSource<Item> {
  readonly path: string;
  /** The member of answers that has them. */
  readonly member: string;
  readonly idOf: (item: Item) => string;
}

type ListAnswer = Readonly<Record<string, unknown>> & {
  readonly pagination: { readonly has_more: boolean; readonly total_count: number };
};

const PAGE_ITEMS = 50;
/** A search waits until the user stops typing. */
const SETTLE_MS = 200;

/** Items of the app, page by page, or those that a search finds. */
export class PagedList<Item> {
  readonly #parts: ListParts;
  readonly #source: ListSource<Item>;
  #request = new AbortController();
  #stopSettling = () => {};
  #items: readonly Item[] = [];
  #state: "loading" | "loaded" | "failed" = "loading";
  query = "";
  /** What the items were searched for by. */
  #loadedQuery: string | null = null;
  /** How many there are; null until the first answer. */
  total: number | null = null;
  hasMore = false;
  fault: string | null = null;

  constructor(source: ListSource<Item>, parts: ListParts) {
    this.#source = source;
    this.#parts = parts;
  }

  get items(): readonly Item[] {
    return this.#items;
  }

  get idOf(): (item: Item) => string {
    return this.#source.idOf;
  }

  get state(): "loading" | "loaded" | "failed" {
    return this.#state;
  }

  /** Whether the items are those of the search. */
  get isUpToDate(): boolean {
    return this.#loadedQuery === this.query;
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
    return this.#load(this.#items.length);
  }

  /** Finds a listed item by its id; null if it is not listed. */
  find(id: string): Item | null {
    return this.#items.find((item) => this.#source.idOf(item) === id) ?? null;
  }

  /** Shows an item as it is now, without loading the list. */
  put(item: Item): void {
    const { idOf } = this.#source;
    const id = idOf(item);
    const isListed = this.find(id) !== null;
    this.#items = isListed
      ? this.#items.map((each) => (idOf(each) === id ? item : each))
      : [...this.#items, item];
    if (!isListed && this.total !== null) this.total++;
  }

  remove(id: string): void {
    const rest = this.#items.filter((item) => this.#source.idOf(item) !== id);
    if (rest.length < this.#items.length && this.total !== null) this.total--;
    this.#items = rest;
  }

  close(): void {
    this.#request.abort();
    this.#stopSettling();
  }

  /** Says why something is missing. */
  fail(fault: string): void {
    this.#state = "failed";
    this.fault = fault;
    this.#parts.changed();
  }

  async #load(offset: number): Promise<void> {
    this.close();
    this.#request = new AbortController();
    const { signal } = this.#request;
    const { api, changed } = this.#parts;
    const { path, member, idOf } = this.#source;
    this.#state = "loading";
    changed();
    const searched = this.query;
    const text = searched.trim();
    const query = { text: text === "" ? null : text, limit: PAGE_ITEMS, offset };
    const onPause = (error: ApiError) => this.fail(retryingSentenceOf(error));
    try {
      const ask = () => api.get<ListAnswer>(path, query, signal);
      const { [member]: page, pagination } = await api.retries.ask(ask, { signal, onPause });
      const items = page as readonly Item[];
      // An item that was created or deleted meanwhile moves the others.
      const known = new Set(offset === 0 ? [] : this.#items.map(idOf));
      const added = items.filter((item) => !known.has(idOf(item)));
      this.#items = offset === 0 ? items : [...this.#items, ...added];
      this.total = pagination.total_count;
      this.hasMore = pagination.has_more;
      this.fault = null;
      this.#loadedQuery = searched;
      this.#state = "loaded";
      changed();
    } catch (error) {
      if (!signal.aborted) this.fail(sentenceOf(error));
    }
  }
}
