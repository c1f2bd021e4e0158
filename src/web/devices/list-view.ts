import type { DeviceList } from "./device-list.ts";
import type { DeviceTable } from "./device-table.ts";
import { type ListScroll, ROW_PIXELS, type RowWindow, scrollTopFor, windowOf } from "./row-window.ts";

export interface ListViewDependencies {
  readonly table: DeviceTable;
  readonly list: DeviceList;
  readonly changed: () => void;
  readonly choose: (id: string) => void;
}

const ROWS_ID = "device-rows";
const SEARCH_ID = "search";
/** After a touch, the next one may follow within this time. */
const TOUCH_MS = 3000;

/** The scroll position of the list, and the row that the keyboard is at. */
export class ListView {
  readonly table: DeviceTable;
  readonly list: DeviceList;
  readonly #changed: () => void;
  readonly #choose: (id: string) => void;
  #scrollTop = 0;
  /** The height of the list at the last scroll. Reading it while the page is drawn would force a slow layout. */
  #viewPixels = 0;
  #activeId: string | null = null;
  #touch: ReturnType<typeof setTimeout> | undefined;

  constructor({ table, list, changed, choose }: ListViewDependencies) {
    this.table = table;
    this.list = list;
    this.#changed = changed;
    this.#choose = choose;
    table.onChange(() => {
      if (table.size === 0) this.#forget();
    });
  }

  get rowCount(): number {
    return this.list.rows.length;
  }

  /** The index of the active device in the list, or -1. */
  get activeIndex(): number {
    const row = this.#activeId === null ? undefined : this.table.rowOf(this.#activeId);
    return row === undefined ? -1 : this.list.rows.indexOf(row);
  }

  get window(): RowWindow {
    return windowOf(this.#scroll, innerHeight);
  }

  scrolled({ currentTarget }: Event): void {
    const { scrollTop, clientHeight } = currentTarget as HTMLElement;
    this.#scrollTop = scrollTop;
    this.#viewPixels = clientHeight;
    this.#changed();
  }

  search(query: string): void {
    this.#scrollTo(0);
    this.list.search(query);
  }

  choose(id: string): void {
    this.#activeId = id;
    this.#choose(id);
    this.#changed();
  }

  chooseAt(index: number): void {
    if (index >= 0 && index < this.rowCount) this.choose(this.#idAt(index));
  }

  /** Holds the order for a while after a touch. */
  touched(): void {
    this.list.hold("touch");
    clearTimeout(this.#touch);
    this.#touch = setTimeout(() => this.list.release("touch"), TOUCH_MS);
  }

  focusSearch(): void {
    document.getElementById(SEARCH_ID)?.focus();
  }

  /** Moves the focus into the rows. */
  enterRows(): void {
    document.getElementById(ROWS_ID)?.focus();
    if (this.activeIndex < 0) this.#activate(0);
  }

  /** Handles a key within the rows; returns whether it did. The space bar on the chosen row belongs to the player. */
  press(key: string, chosenId: string | null): boolean {
    const at = this.activeIndex;
    this.#viewPixels = document.getElementById(ROWS_ID)?.clientHeight ?? innerHeight;
    const page = Math.max(1, Math.floor(this.#viewPixels / ROW_PIXELS) - 1);
    if (key === "ArrowDown") this.#activate(at + 1);
    else if (key === "ArrowUp") this.#activate(at - 1);
    else if (key === "PageDown") this.#activate(at + page);
    else if (key === "PageUp") this.#activate(at - page);
    else if (key === "Home") this.#activate(0);
    else if (key === "End") this.#activate(this.rowCount - 1);
    else if (key === " " && at >= 0 && this.#idAt(at) === chosenId) return false;
    else if (key === "Enter" || key === " ") this.chooseAt(at);
    else return false;
    return true;
  }

  /** Forgets the device's name after a sign-out. */
  #forget(): void {
    this.#activeId = null;
    this.#scrollTop = 0;
  }

  #idAt(index: number): string {
    return this.table.ids[this.list.rows[index]!]!;
  }

  get #scroll(): ListScroll {
    return { rowCount: this.rowCount, scrollTop: this.#scrollTop, viewPixels: this.#viewPixels };
  }

  #activate(index: number): void {
    if (this.rowCount === 0) return;
    const near = Math.max(0, Math.min(index, this.rowCount - 1));
    this.#activeId = this.#idAt(near);
    this.#scrollTo(scrollTopFor(near, this.#scroll));
    this.#changed();
  }

  #scrollTo(scrollTop: number): void {
    this.#scrollTop = scrollTop;
    const rows = document.getElementById(ROWS_ID);
    if (rows !== null) rows.scrollTop = scrollTop;
  }
}
