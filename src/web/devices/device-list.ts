import type { DeviceTable } from "./device-table.ts";
import { type Activity, activityOf, freshnessOf } from "./freshness.ts";
import { NameOrder } from "./name-order.ts";
import { AT_START, NameSearch, WITHIN } from "./name-search.ts";
import { RowOrder } from "./row-order.ts";

export type ListOrder = "newest" | "name" | "fastest";
export type ListFilter = "all" | Exclude<Activity, "reporting">;

/** Why the order must not change: a pointer over the list, the focus in it, or a recent touch. */
export type HoldReason = "pointer" | "focus" | "touch";

/**
 * Which devices the list shows, and in which order. While it is held no row moves by itself, so that a click meets the
 * row that the user aimed at.
 */
export class DeviceList {
  readonly #table: DeviceTable;
  readonly #changed: () => void;
  readonly #nowMs: () => number;
  readonly #order = new RowOrder();
  readonly #names = new NameOrder();
  readonly #search = new NameSearch();
  /** Searches what the page calls devices, if any has a name. */
  readonly #labelSearch = new NameSearch();
  readonly #holds = new Set<HoldReason>();
  #orderBy: ListOrder = "newest";
  #filter: ListFilter = "all";
  #query = "";
  #rows: Uint32Array<ArrayBuffer> = new Uint32Array(0);
  #edition = 0;
  #labelEdition = 0;
  /** The table's version when the rows were arranged. */
  #version = 0;
  /** The names of the rows' edition. */
  #ids: readonly string[] = [];

  constructor(table: DeviceTable, changed: () => void, nowMs: () => number = Date.now) {
    this.#table = table;
    this.#changed = changed;
    this.#nowMs = nowMs;
    table.onChange(() => {
      if (table.labelEdition !== this.#labelEdition) this.#forgetLabels();
      if (table.edition !== this.#edition) this.#useEdition();
    });
  }

  /** Rows of the table, in the order of the list. */
  get rows(): Uint32Array {
    return this.#rows;
  }

  /** How many devices match. Without a filter, new devices count before the list has them. */
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

  /** Prepares the names for a search that is about to begin. */
  prepareSearch(): void {
    const { ids, labels } = this.#table;
    this.#search.fold(ids);
    if (labels !== ids) this.#labelSearch.fold(labels);
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

  hold(reason: HoldReason): void {
    this.#holds.add(reason);
  }

  release(reason: HoldReason): void {
    if (this.#holds.delete(reason)) this.refresh();
  }

  /** Follows the table, unless it is held. Called about once a second: rows that jump more often can't be read. */
  refresh(): void {
    if (this.#holds.size > 0) return;
    const isTimeless = this.#orderBy !== "fastest" && this.#filter === "all";
    if (isTimeless && this.#table.version === this.#version) this.#changed();
    else this.#arrange();
  }

  /** Follows a new edition of the table. A held list keeps its order by name. */
  #useEdition(): void {
    const ids = Array.from(this.#rows, (row) => this.#ids[row]!);
    this.#edition = this.#table.edition;
    this.#ids = this.#table.ids;
    this.#order.clear();
    this.#search.clear();
    this.#forgetLabels();
    if (this.#table.size === 0) {
      this.#query = "";
      this.#filter = "all";
    }
    if (this.#holds.size === 0 || ids.length === 0) this.#arrange();
    else {
      const rows = ids.map((id) => this.#table.rowOf(id)).filter((row) => row !== undefined);
      this.#rows = Uint32Array.from(rows);
      this.#changed();
    }
  }

  /** A device has another name: names are sorted and searched anew. */
  #forgetLabels(): void {
    this.#labelEdition = this.#table.labelEdition;
    this.#names.clear();
    this.#labelSearch.clear();
  }

  #arrange(): void {
    const table = this.#table;
    const sorted = this.#order.refresh(table.size, this.#keys());
    const isWhole = this.#isWhole;
    this.#rows = isWhole ? sorted : this.#selected(sorted);
    table.showOnly(isWhole ? null : this.#rows);
    this.#version = table.version;
    // An empty list has no element, so pointer and focus leave it without an event.
    if (this.#rows.length === 0) this.#holds.clear();
    this.#changed();
  }

  get #isWhole(): boolean {
    return this.#filter === "all" && this.#query === "";
  }

  /** The matching rows. Names and ids that begin with the query come first. */
  #selected(sorted: Uint32Array): Uint32Array<ArrayBuffer> {
    const table = this.#table;
    const nowMs = this.#nowMs();
    const filter = this.#filter;
    const matches = this.#query === "" ? null : this.#matchesOf(this.#query);
    const rows = new Uint32Array(sorted.length);
    let count = 0;
    for (const kind of matches === null ? [AT_START] : [AT_START, WITHIN]) {
      for (const row of sorted) {
        if (matches !== null && matches[row] !== kind) continue;
        if (filter === "all" || activityOf(table, row, nowMs) === filter) rows[count++] = row;
      }
    }
    return rows.slice(0, count);
  }

  /** How each device matches, by its name or by its id. */
  #matchesOf(query: string): Uint8Array {
    const { ids, labels } = this.#table;
    const byId = this.#search.search(ids, query);
    if (labels === ids) return byId;
    const byLabel = this.#labelSearch.search(labels, query);
    return byId.map((match, row) => Math.max(match, byLabel[row]!));
  }

  /** The sort key of a row, in ascending order. */
  #keys(): (row: number) => number {
    const table = this.#table;
    const { timestampMs, speedMetersPerSecond } = table;
    if (this.#orderBy === "newest") return (row) => -timestampMs[row]!;
    if (this.#orderBy === "name") {
      const ranks = this.#names.ranksOf(table.labels);
      return (row) => ranks[row]!;
    }
    const nowMs = this.#nowMs();
    return (row) => {
      if (freshnessOf(timestampMs[row]!, nowMs) !== "fresh") return 2; // After fresh devices without a speed.
      const speed = speedMetersPerSecond[row]!;
      return Number.isNaN(speed) ? 1 : -speed;
    };
  }
}
