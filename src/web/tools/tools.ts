import type { Api } from "../api/api.ts";
import { LatePart } from "../api/late-part.ts";
import type { DeviceTable } from "../devices/device-table.ts";
import type { LiveEvents } from "../devices/live-events.ts";
import type { Fences, FencesParts } from "../fences/fences.ts";
import type { Units } from "../geo/units.ts";
import type { Making } from "../keys/making.ts";
import type { Lapse, LapseMap } from "../lapse/lapse.ts";
import type { SettingsDialog } from "../settings/settings-dialog.ts";
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
  readonly liveEvents: LiveEvents;
  readonly map: NearbyMap & DensityMap & LapseMap & FencesParts["map"];
  readonly chosen: Chosen;
  readonly zones: { readonly zone: string };
  readonly settings: { readonly units: Units };
  readonly sheet: { lower(): void };
  /** Whether the user may read all devices, not only those of a share link. */
  readonly mayRead: () => boolean;
  /** Whether the user may change geofences. */
  readonly mayManage: () => boolean;
  readonly changed: () => void;
}

/** The tools that open over the map and the page. */
export class Tools {
  readonly #parts: ToolsParts;
  readonly table: DeviceTable;
  readonly chosen: Chosen;
  readonly nearby: Nearby;
  readonly density: Density;
  readonly help: Help;
  readonly settings: LatePart<typeof import("../settings/settings-dialog.ts"), SettingsDialog>;
  readonly fences: LatePart<typeof import("../fences/fences.ts"), Fences>;
  /** The time lapse of all devices. */
  readonly lapse: LatePart<typeof import("../lapse/lapse.ts"), Lapse>;
  /** The tools that create keys: share links and phones. */
  readonly making: LatePart<typeof import("../keys/making.ts"), Making>;

  constructor(parts: ToolsParts) {
    const { table, chosen } = parts;
    this.#parts = parts;
    this.table = table;
    this.making = new LatePart({
      api: parts.api,
      path: "keys/making.ts",
      load: () => import("../keys/making.ts"),
      create: ({ Making }) => new Making(parts),
      changed: parts.changed,
    });
    this.settings = new LatePart({
      api: parts.api,
      path: "settings/settings-dialog.ts",
      load: () => import("../settings/settings-dialog.ts"),
      create: (module) => new module.SettingsDialog(parts.changed),
      changed: parts.changed,
    });
    this.fences = new LatePart({
      api: parts.api,
      path: "fences/fences.ts",
      load: () => import("../fences/fences.ts"),
      create: (module) => new module.Fences(parts),
      changed: parts.changed,
    });
    this.lapse = new LatePart({
      api: parts.api,
      path: "lapse/lapse.ts",
      load: () => import("../lapse/lapse.ts"),
      create: (module) => new module.Lapse(parts),
      changed: parts.changed,
    });
    this.chosen = chosen;
    this.nearby = new Nearby({ ...parts, devices: table });
    this.density = new Density(parts);
    this.help = new Help(parts);
    // The rows now belong to other devices.
    table.onChange(({ kind }) => kind === "all" && this.nearby.draw());
  }

  /** Registers the keys that open and close the tools. */
  setKeys(keyboard: Keyboard): void {
    keyboard.on("n", () => this.#parts.mayRead() && this.nearby.aroundMiddle());
    keyboard.on("g", () => this.#parts.mayRead() && this.toggleFences());
    keyboard.on("t", () => this.#parts.mayRead() && void this.lapse.use((part) => part.open()));
    keyboard.on("?", () => this.help.open());
    keyboard.onEscape(() => this.density.close());
    keyboard.onEscape(() => this.nearby.close());
    keyboard.onEscape(() => this.fences.loaded?.escape() ?? false);
  }

  toggleFences(): void {
    void this.fences.use((fences) => fences.close() || fences.open());
  }

  /** Closes all tools at the end of a session. */
  close(): void {
    this.nearby.close();
    this.fences.close();
    this.density.close();
    this.making.close();
    this.settings.close();
    this.lapse.close();
  }
}
