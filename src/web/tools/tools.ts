import type { Api } from "../api/api.ts";
import { retryingSentenceOf, sentenceOf } from "../api/api-error.ts";
import { LateModule } from "../api/late-module.ts";
import type { DeviceTable } from "../devices/device-table.ts";
import type { Units } from "../geo/units.ts";
import type { Making } from "../keys/making.ts";
import type { Keyboard } from "../shell/keyboard.ts";
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
  readonly #makingModule: LateModule<typeof import("../keys/making.ts")>;
  #making: Making | null = null;
  #loading: Promise<Making> | null = null;
  /** Why a tool could not be loaded. */
  fault: string | null = null;
  /** Aborted when somebody signs out. */
  #session = new AbortController();

  constructor(parts: ToolsParts) {
    const { table, chosen } = parts;
    this.#parts = parts;
    this.#makingModule = new LateModule(parts.api, "keys/making.ts", () => import("../keys/making.ts"));
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
    const { signal } = this.#session;
    try {
      this.#loading ??= this.#loadMaking(signal);
      const making = await this.#loading;
      if (signal.aborted) return; // That user has signed out.
      this.#making = making;
      this.fault = null;
      begin(making);
    } catch (error) {
      if (signal.aborted) return;
      this.#loading = null;
      this.fault = sentenceOf(error);
    }
    this.#parts.changed();
  }

  async #loadMaking(signal: AbortSignal): Promise<Making> {
    const { Making } = await this.#parts.api.retries.ask(() => this.#makingModule.load(), {
      signal,
      onPause: (error) => {
        this.fault = retryingSentenceOf(error);
        this.#parts.changed();
      },
    });
    return new Making(this.#parts);
  }

  /** Nothing of one session is there in the next. */
  close(): void {
    this.#session.abort();
    this.#session = new AbortController();
    this.fault = null;
    this.nearby.close();
    this.density.close();
    this.#making?.close();
    this.#making = null;
    this.#loading = null;
  }
}
