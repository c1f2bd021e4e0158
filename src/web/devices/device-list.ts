import type { DeviceTable } from "./device-table.ts";
import { type Activity, activityOf, freshnessOf } from "./freshness.ts";
import { NameOrder } from "./name-order.ts";
import { AT_START, NameSearch, WITHIN } from "./name-search.ts";
import { RowOrder } from "./row-order.ts";

export type ListOrder = "newest" | "name" | "fastest";
export type ListFilter = "all" | Exclude<Activity, "reporting">;

/** What keeps the order as it is: a pointer over the list, the focus in it, or a finger that was on it just now. */
export type Holder = "pointer" | "focus" | "touch";

/**
 * Which devices the list shows, and in which order. While it is held nothing changes its place by itself, or a click
 * would meet another row than the one that was aimed at.
 */
export class DeviceList {
  readonly #table: DeviceTable;
  readonly #changed: () => void;
  readonly #nowMs: () => number;
  readonly #order = new RowOrder();
  readonly #names = new NameOrder();
  readonly #search = new NameSearch();
  readonly #holders = new Set<Holder>();
  #orderBy: ListOrder = "newest";
  #filter: ListFilter = "all";
  #query = "";
  #rows: Uint32Array<ArrayBuffer> = new Uint32Array(0);
  #edition = 0;
  /** Of the table, when the rows were arranged. */
  #version = 0;
  /** Names of the edition that the rows are of. */
  #ids: readonly string[] = [];

  constructor(table: DeviceTable, changed: () => void, nowMs: () => number = Date.now) {
    this.#table = table;
    this.#changed = changed;
    this.#nowMs = nowMs;
    table.onChange(() => {
      if (table.edition !== this.#edition) this.#takeEdition();
    });
  }

  /** Rows of the table, as they stand in the list. */
  get rows(): Uint32Array {
    return this.#rows;
  }

  /** How many devices pass. Where all do, new ones count before they have a place in the list. */
  get count(): number {
    return this.#isWhole ? this.#table.size : this.#rows.length;
  }

  get orderBy(): ListOrder {
    return this.#orderBy;
  }

  get filter(): ListFilter {
    return this.#filter;
  }

  get query(): string {
    return this.#query;
  }

  search(query: string): void {
    this.#query = query;
    this.#arrange();
  }

  /** Somebody is about to search: names that are folded now needn't be then. */
  prepareSearch(): void {
    this.#search.fold(this.#table.ids);
  }

  showOnly(filter: ListFilter): void {
    this.#filter = filter;
    this.#arrange();
  }

  sortBy(order: ListOrder): void {
    this.#orderBy = order;
    this.#order.clear();
    this.#arrange();
  }

  hold(holder: Holder): void {
    this.#holders.add(holder);
  }

  release(holder: Holder): void {
    if (this.#holders.delete(holder)) this.refresh();
  }

  /** Follows the table, unless it is held. Called about once a second: rows that jump more often can't be read. */
  refresh(): void {
    if (this.#holders.size > 0) return;
    const isTimeless = this.#orderBy !== "fastest" && this.#filter === "all";
    if (isTimeless && this.#table.version === this.#version) this.#changed();
    else this.#arrange();
  }

  /** The rows are others: held ones keep their places by their names. */
  #takeEdition(): void {
    const ids = Array.from(this.#rows, (row) => this.#ids[row]!);
    this.#edition = this.#table.edition;
    this.#ids = this.#table.ids;
    this.#order.clear();
    this.#names.clear();
    this.#search.clear();
    if (this.#table.size === 0) {
      this.#query = "";
      this.#filter = "all";
    }
    if (this.#holders.size === 0 || ids.length === 0) this.#arrange();
    else {
      const rows = ids.map((id) => this.#table.rowOf(id)).filter((row) => row !== undefined);
      this.#rows = Uint32Array.from(rows);
      this.#changed();
    }
  }

  #arrange(): void {
    const table = this.#table;
    const sorted = this.#order.refresh(table.size, this.#keys());
    const isWhole = this.#isWhole;
    this.#rows = isWhole ? sorted : this.#selected(sorted);
    table.showOnly(isWhole ? null : this.#rows);
    this.#version = table.version;
    // The rows leave the page, and pointer and focus with them, without a word.
    if (this.#rows.length === 0) this.#holders.clear();
    this.#changed();
  }

  get #isWhole(): boolean {
    return this.#filter === "all" && this.#query === "";
  }

  /** Names that begin with what is sought come first. */
  #selected(sorted: Uint32Array): Uint32Array<ArrayBuffer> {
    const table = this.#table;
    const nowMs = this.#nowMs();
    const filter = this.#filter;
    const matches = this.#query === "" ? null : this.#search.search(table.ids, this.#query);
    const rows = new Uint32Array(sorted.length);
    let count = 0;
    for (const sought of matches === null ? [AT_START] : [AT_START, WITHIN]) {
      for (const row of sorted) {
        if (matches !== null && matches[row] !== sought) continue;
        if (filter === "all" || activityOf(table, row, nowMs) === filter) rows[count++] = row;
      }
    }
    return rows.slice(0, count);
  }

  /** What the order goes by: the least first. */
  #keys(): (row: number) => number {
    const table = this.#table;
    const { timestampMs, speedMetersPerSecond } = table;
    if (this.#orderBy === "newest") return (row) => -timestampMs[row]!;
    if (this.#orderBy === "name") {
      const ranks = this.#names.ranksOf(table.ids);
      return (row) => ranks[row]!;
    }
    const nowMs = this.#nowMs();
    return (row) => {
      if (freshnessOf(timestampMs[row]!, nowMs) !== "fresh") return 2; // Behind those of which no speed is known.
      const speed = speedMetersPerSecond[row]!;
      return Number.isNaN(speed) ? 1 : -speed;
    };
  }
}
