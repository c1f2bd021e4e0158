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

/** The chosen device. */
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
  /** Whether the user may read all devices, not only those of a share link. */
  readonly mayRead: () => boolean;
  readonly changed: () => void;
}

/** The tools that open over the map and the page. */
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
  /** Aborted when the user signs out. */
  #session = new AbortController();

  constructor(parts: ToolsParts) {
    const { table, chosen } = parts;
    this.#parts = parts;
    this.#makingModule = new LateModule(parts.api, "keys/making.ts", () => import("../keys/making.ts"));
    this.chosen = chosen;
    this.nearby = new Nearby({ ...parts, devices: table });
    this.density = new Density(parts);
    this.help = new Help(parts);
    // The rows now belong to other devices.
    table.onChange(({ kind }) => kind === "all" && this.nearby.draw());
  }

  /** The tools that create keys: share links and phones; null until their code is loaded. */
  get making(): Making | null {
    return this.#making;
  }

  /** Registers the keys that open and close the tools. */
  setKeys(keyboard: Keyboard): void {
    keyboard.on("n", () => this.#parts.mayRead() && this.nearby.aroundMiddle());
    keyboard.on("?", () => this.help.open());
    keyboard.onEscape(() => this.density.close());
    keyboard.onEscape(() => this.nearby.close());
  }

  /** Loads the tools that create keys, and calls `begin` with them. */
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

  /** Closes all tools at the end of a session. */
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
