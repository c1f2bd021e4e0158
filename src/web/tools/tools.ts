import type { Api } from "../api/api.ts";
import { sentenceOf } from "../api/api-error.ts";
import type { DeviceTable } from "../devices/device-table.ts";
import type { Making } from "../keys/making.ts";
import type { Keyboard } from "../shell/keyboard.ts";
import type { Units } from "../units/units.ts";
import { Density, type DensityMap } from "./density.ts";
import { Help } from "./help.ts";
import { Nearby, type NearbyMap } from "./nearby.ts";

/** The device that is looked at. */
export interface Chosen {
  readonly id: string | null;
  choose(id: string): void;
}

export interface ToolsParts {
  readonly api: Api;
  readonly table: DeviceTable;
  readonly map: NearbyMap & DensityMap;
  readonly chosen: Chosen;
  readonly zones: { readonly zone: string };
  readonly units: Units;
  /** Whether whoever is signed in may ask for more than a share link shows. */
  readonly mayRead: () => boolean;
  readonly changed: () => void;
}

/** What can be opened over the map and the page. */
export class Tools {
  readonly #parts: ToolsParts;
  readonly chosen: Chosen;
  readonly nearby: Nearby;
  readonly density: Density;
  readonly help: Help;
  #making: Making | null = null;
  /** Why a tool could not be loaded. */
  fault: string | null = null;
  /** Counts sessions that have ended. */
  #sessions = 0;

  constructor(parts: ToolsParts) {
    const { table, chosen } = parts;
    this.#parts = parts;
    this.chosen = chosen;
    this.nearby = new Nearby({ ...parts, devices: table });
    this.density = new Density(parts);
    this.help = new Help(parts);
    // Rows are other devices' then.
    table.onChange(({ kind }) => kind === "all" && this.nearby.draw());
  }

  /** Share links and keys for phones; null until its code is here. */
  get making(): Making | null {
    return this.#making;
  }

  /** The keys that open and close them. */
  setKeys(keyboard: Keyboard): void {
    keyboard.on("n", () => this.#parts.mayRead() && this.nearby.aroundMiddle());
    keyboard.on("?", () => this.help.open());
    keyboard.onEscape(() => this.density.close());
    keyboard.onEscape(() => this.nearby.close());
  }

  /** Loads what makes keys, and does something with it. */
  async make(begin: (making: Making) => void): Promise<void> {
    const session = this.#sessions;
    try {
      const { Making } = await import("../keys/making.ts");
      if (session !== this.#sessions) return; // It was for somebody who has left.
      this.#making ??= new Making(this.#parts);
      this.fault = null;
      begin(this.#making);
    } catch (error) {
      this.fault = sentenceOf(error);
    }
    this.#parts.changed();
  }

  /** Nothing of one session is there in the next. */
  close(): void {
    this.#sessions++;
    this.fault = null;
    this.nearby.close();
    this.density.close();
    this.#making?.close();
    this.#making = null;
  }
}
