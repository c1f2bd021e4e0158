import { type SearchedDevices, suggestedIds } from "../devices/name-search.ts";
import type { Choice } from "./choice-chips.ts";

/* The devices that a draft names. */

export interface ChosenDevicesParts {
  readonly table: SearchedDevices & { labelOf(id: string): string };
  readonly changed: () => void;
}

/** The form of the draft. */
interface EditedDevices {
  /** Null while nothing is edited. */
  readonly draft: { readonly devices: readonly string[] } | null;
  set(changes: { readonly devices: readonly string[] }, member: string): void;
}

/** Finds, adds and removes devices. */
export class ChosenDevices implements Choice {
  readonly #editor: EditedDevices;
  readonly #parts: ChosenDevicesParts;
  search = "";

  constructor(editor: EditedDevices, parts: ChosenDevicesParts) {
    this.#editor = editor;
    this.#parts = parts;
  }

  get ids(): readonly string[] {
    return this.#editor.draft?.devices ?? [];
  }

  labelOf(id: string): string {
    return this.#parts.table.labelOf(id);
  }

  suggestions(): readonly string[] {
    return suggestedIds(this.#parts.table, this.search, this.ids);
  }

  type(search: string): void {
    this.search = search;
    this.#parts.changed();
  }

  add(id: string): void {
    this.search = "";
    if (!this.ids.includes(id)) this.#set([...this.ids, id]);
  }

  remove(id: string): void {
    this.#set(this.ids.filter((other) => other !== id));
  }

  #set(devices: readonly string[]): void {
    this.#editor.set({ devices }, "devices");
  }
}
