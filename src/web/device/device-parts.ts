import type { Api } from "../api/api.ts";
import { LatePart } from "../api/late-part.ts";
import type { Days } from "../days/days.ts";
import type { DeviceTable } from "../devices/device-table.ts";
import { DayLine, metersPerPixel } from "../history/day-line.ts";
import { Moment } from "../history/moment.ts";
import { Player } from "../history/player.ts";
import type { MapView } from "../map/map-view.ts";
import { valueAt } from "../plots/plot-series.ts";
import { type Plot, Plots } from "../plots/plots.ts";
import type { Settings } from "../settings/settings.ts";
import type { Keyboard } from "../shell/keyboard.ts";
import { clockText } from "../time/format.ts";
import { ChosenDevice } from "./chosen-device.ts";
import { Coordinates } from "./coordinates.ts";
import { Downloads } from "./downloads.ts";
import { TodayDistance } from "./today-distance.ts";

/** The largest distance of a click from the line. */
const CLICK_PIXELS = 12;

/** The largest distance of the mouse from the line. */
const HOVER_PIXELS = 10;

/** The calendar and the statistics. */
export type LateDays = LatePart<typeof import("../days/days.ts"), Days>;

/** The parts that show one device and its days. */
export interface DeviceParts {
  readonly chosen: ChosenDevice;
  readonly player: Player;
  readonly plots: Plots;
  readonly moment: Moment;
  readonly downloads: Downloads;
  readonly today: TodayDistance;
  readonly coordinates: Coordinates;
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
  readonly settings: Settings;
  readonly onChoose: (id: string | null) => void;
  readonly changed: () => void;
}

/** Creates the parts and connects them. */
export function createDeviceParts(needs: DeviceNeeds): DeviceParts {
  const { api, zones, table, map, viewOf, settings, onChoose, changed } = needs;
  const player = new Player(map, () => {
    const { playback } = player;
    moment.stand(playback === null || playback.isPlaying || playback.isAtEnd ? null : playback.clockMs);
    changed();
  });
  const dayLine = new DayLine(api, map);
  const plots = new Plots(api, settings, () => {
    dayLine.color(plots.lineSpeed);
    changed();
  });
  const today = new TodayDistance({ api, changed });
  const coordinates = new Coordinates({ navigator, changed });
  const moment = new Moment({ map, changed, textAt: (ms, zone) => momentText(ms, zone, plots.lineSpeed) });
  const chosen = new ChosenDevice({
    ...{ api, zones, devices: table, viewOf, changed },
    onChoose: (id) => {
      map.follow(false);
      coordinates.reset();
      showChosen();
      onChoose(id);
    },
    onAsk: () => dayLine.await(),
    onHistory: (history) => {
      dayLine.show(history);
      moment.use(history);
      player.use(history);
      plots.use(history);
      dayLine.color(plots.lineSpeed);
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
  map.onHover((at) => {
    const { camera } = map;
    if (camera !== null) moment.pointNear(at, HOVER_PIXELS * metersPerPixel(camera));
  });
  const days = new LatePart({
    api,
    path: "days/days.ts",
    load: () => import("../days/days.ts"),
    create: ({ Days }) => new Days({ api, table, chosen, settings, changed }),
    changed,
  });
  const downloads = new Downloads(api, changed);
  return { chosen, player, plots, moment, downloads, today, coordinates, dayLine, days };
}

/** `17:05:49 EST, 38 km/h`. */
function momentText(ms: number, zone: string, speed: Plot | null): string {
  const value = speed === null ? null : valueAt(speed.series, ms);
  const time = clockText(ms, zone);
  return speed === null || value === null ? time : `${time}, ${Math.round(value)} ${speed.kind.unit}`;
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
