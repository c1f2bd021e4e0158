import type { Api } from "../api/api.ts";
import type { DeviceTable } from "../devices/device-table.ts";
import type { Units } from "../geo/units.ts";
import { DayLine, metersPerPixel } from "../history/day-line.ts";
import { Player } from "../history/player.ts";
import type { MapView } from "../map/map-view.ts";
import { Plots } from "../plots/plots.ts";
import type { Keyboard } from "../shell/keyboard.ts";
import { ChosenDevice } from "./chosen-device.ts";
import { Downloads } from "./downloads.ts";
import { LateDays } from "./late-days.ts";

/** The largest distance of a click from the line. */
const CLICK_PIXELS = 12;

/** The parts that show one device and its days. */
export interface DeviceParts {
  readonly chosen: ChosenDevice;
  readonly player: Player;
  readonly plots: Plots;
  readonly downloads: Downloads;
  readonly dayLine: DayLine;
  readonly days: LateDays;
}

/** What the page provides to them. */
export interface DeviceNeeds {
  readonly api: Api;
  readonly zones: { readonly zone: string };
  readonly table: DeviceTable;
  readonly map: MapView;
  readonly viewOf: () => { readonly not_before: number } | null;
  readonly units: Units;
  readonly onChoose: (id: string | null) => void;
  readonly changed: () => void;
}

/** Creates the parts and connects them. */
export function createDeviceParts(needs: DeviceNeeds): DeviceParts {
  const { api, zones, table, map, viewOf, units, onChoose, changed } = needs;
  const player = new Player(map, changed);
  const plots = new Plots(api, units, changed);
  const dayLine = new DayLine(api, map);
  const chosen = new ChosenDevice({
    ...{ api, zones, devices: table, viewOf, changed },
    onChoose: (id) => {
      showChosen();
      onChoose(id);
    },
    onAsk: () => dayLine.await(),
    onHistory: (history) => {
      dayLine.show(history);
      player.use(history);
      plots.use(history);
    },
  });
  const rowOf = (id: string | null) => (id === null ? null : (table.rowOf(id) ?? null));
  const showChosen = () => map.choose(rowOf(chosen.id));
  table.onChange(({ kind }) => {
    if (kind === "all") showChosen();
  });
  map.onPick((row, at) => {
    const { camera } = map;
    if (row !== null) chosen.choose(table.ids[row]!);
    else if (camera !== null) player.seekNear(at, CLICK_PIXELS * metersPerPixel(camera));
  });
  const days = new LateDays({ api, table, chosen, units, changed });
  return { chosen, player, plots, downloads: new Downloads(api, changed), dayLine, days };
}

/** Registers the keys of the day. Esc closes what was opened last, so it closes the device after all tools. */
export function setDeviceKeys(keyboard: Keyboard, { chosen, player, days }: DeviceParts): void {
  keyboard.on(" ", () => player.toggle());
  keyboard.on("[", () => chosen.move(-1));
  keyboard.on("]", () => chosen.move(1));
  keyboard.on("c", () => {
    if (chosen.id !== null && !chosen.isView) void days.use((loaded) => loaded.openCalendar());
  });
  keyboard.onEscape(() => {
    const isOpen = chosen.id !== null;
    chosen.choose(null);
    return isOpen;
  });
}
