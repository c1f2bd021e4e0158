import { type SearchedDevices, suggestedIds } from "../devices/name-search.ts";
import { ChosenIds } from "./chosen-ids.ts";

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

/** Finds devices by their names and ids. */
export class ChosenDevices extends ChosenIds {
  readonly #editor: EditedDevices;
  readonly #parts: ChosenDevicesParts;

  constructor(editor: EditedDevices, parts: ChosenDevicesParts) {
    super();
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

  protected set(devices: readonly string[]): void {
    this.#editor.set({ devices }, "devices");
  }
}
