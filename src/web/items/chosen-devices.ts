import type { DeviceChoice } from "../devices/device-chips.ts";
import { type SearchedDevices, suggestedIds } from "../devices/name-search.ts";

/* The devices that a draft names. */

export interface ChosenDevicesParts {
  readonly table: SearchedDevices & { labelOf(id: string): string };
  /** The devices of the draft. */
  readonly ids: () => readonly string[];
  readonly set: (ids: readonly string[]) => void;
  readonly changed: () => void;
}

/** Finds, adds and removes devices. */
export class ChosenDevices implements DeviceChoice {
  readonly #parts: ChosenDevicesParts;
  search = "";

  constructor(parts: ChosenDevicesParts) {
    this.#parts = parts;
  }

  get deviceIds(): readonly string[] {
    return this.#parts.ids();
  }

  labelOf(id: string): string {
    return this.#parts.table.labelOf(id);
  }

  suggestions(): readonly string[] {
    return suggestedIds(this.#parts.table, this.search, this.deviceIds);
  }

  type(search: string): void {
    this.search = search;
    this.#parts.changed();
  }

  add(id: string): void {
    this.search = "";
    if (!this.deviceIds.includes(id)) this.#parts.set([...this.deviceIds, id]);
  }

  remove(id: string): void {
    this.#parts.set(this.deviceIds.filter((other) => other !== id));
  }
}
