import type { Api } from "../api/api.ts";
import { LatePart } from "../api/late-part.ts";
import type { Corrections } from "../corrections/corrections.ts";
import type { Days } from "../days/days.ts";
import type { DeviceTable } from "../devices/device-table.ts";
import type { LiveEvents } from "../devices/live-events.ts";
import { DayLine, metersPerPixel } from "../history/day-line.ts";
import type { History } from "../history/history.ts";
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
import { DayEvents } from "./day-events.ts";
import { Downloads } from "./downloads.ts";
import type { ProfileEditor } from "./profile-editor.ts";
import { TodayDistance } from "./today-distance.ts";

/** The largest distance of a click from the line. */
const CLICK_PIXELS = 12;

/** The largest distance of the mouse from the line. */
const HOVER_PIXELS = 10;

/** The calendar and the statistics. */
export type LateDays = LatePart<typeof import("../days/days.ts"), Days>;

/** Edits the profile of the device. */
export type LateEditor = LatePart<typeof import("./profile-editor.ts"), ProfileEditor>;

/** Suspicious positions, and corrections. */
export type LateCorrections = LatePart<typeof import("../corrections/corrections.ts"), Corrections>;

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
  /** What geofences and alerts have told of the day. */
  readonly events: DayEvents;
  readonly days: LateDays;
  readonly editor: LateEditor;
  readonly corrections: LateCorrections;
  /** What the page calls a device, and how it is marked. */
  readonly table: Pick<DeviceTable, "rowOf" | "labelOf" | "lookOf">;
  /** Whether the user may edit profiles and correct positions. */
  readonly mayEdit: () => boolean;
}

/** What the page provides to them. */
export interface DeviceNeeds {
  readonly api: Api;
  readonly zones: { readonly zone: string };
  readonly table: DeviceTable;
  readonly liveEvents: LiveEvents;
  readonly map: MapView;
  readonly viewOf: () => { readonly not_before: number } | null;
  readonly settings: Settings;
  readonly mayEdit: () => boolean;
  readonly onChoose: (id: string | null) => void;
  /** The id of the user's key. */
  readonly keyId: () => string | null;
  /** The user has begun, or has ended, to move a position on the map. */
  readonly onMove: (hasBegun: boolean) => void;
  /** Records of the past have changed. */
  readonly onCorrected: () => void;
  readonly changed: () => void;
}

/** Creates the parts and connects them. */
export function createDeviceParts(needs: DeviceNeeds): DeviceParts {
  const { api, zones, table, map, viewOf, settings, mayEdit, onChoose, changed } = needs;
  const { keyId, onMove, onCorrected } = needs;
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
  const events = new DayEvents({ api, map, liveEvents: needs.liveEvents, changed });
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
    onHistory: (history, isRefresh) => {
      dayLine.show(history);
      moment.use(history);
      player.use(history);
      plots.use(history);
      events.use(history);
      dayLine.color(plots.lineSpeed);
      const day = correctable(history);
      if (corrections.loaded !== null) corrections.loaded.use(day, isRefresh);
      else if (day !== null) void corrections.use((loaded) => loaded.use(correctable(chosen.history)));
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
    else if (camera !== null) {
      const ms = player.seekNear(at, CLICK_PIXELS * metersPerPixel(camera));
      if (ms !== null && mayEdit()) corrections.loaded?.selectAt(ms);
    }
  });
  pointByHovering(map, moment);
  const days = new LatePart({
    api,
    path: "days/days.ts",
    load: () => import("../days/days.ts"),
    create: ({ Days }) => new Days({ api, table, chosen, settings, changed }),
    changed,
  });
  const editor = new LatePart({
    api,
    path: "device/profile-editor.ts",
    load: () => import("./profile-editor.ts"),
    create: ({ ProfileEditor }) => new ProfileEditor({ api, table, changed }),
    changed,
  });
  const corrections = new LatePart({
    api,
    path: "corrections/corrections.ts",
    load: () => import("../corrections/corrections.ts"),
    create: ({ Corrections }) =>
      new Corrections({
        ...{ api, table, map, settings, mayEdit, keyId, onMove, onCorrected, changed },
        onLook: (ms) => player.seek(ms),
        look: (id, day, span) => {
          chosen.choose(id);
          chosen.look(day, span);
        },
      }),
    changed,
  });
  const downloads = new Downloads(api, changed);
  const parts = { chosen, player, plots, moment, downloads, today, coordinates, dayLine, events, days };
  return { ...parts, editor, corrections, table, mayEdit };
}

function pointByHovering(map: MapView, moment: Moment): void {
  map.onHover((at) => {
    const { camera } = map;
    if (camera !== null) moment.pointNear(at, HOVER_PIXELS * metersPerPixel(camera));
  });
}

/** Visitors correct nothing. */
function correctable(history: History | null): History | null {
  return history?.isView ? null : history;
}

/** `17:05:49 EST, 38 km/h`. */
function momentText(ms: number, zone: string, speed: Plot | null): string {
  const value = speed === null ? null : valueAt(speed.series, ms);
  const time = clockText(ms, zone);
  return speed === null || value === null ? time : `${time}, ${Math.round(value)} ${speed.kind.unit}`;
}

/** Registers the keys of the day. Esc closes what was opened last, so it closes the device after all tools. */
export function setDeviceKeys(keyboard: Keyboard, { chosen, player, days, corrections }: DeviceParts): void {
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
  keyboard.onEscape(() => corrections.loaded?.clear() ?? false);
  keyboard.onUndo(() => corrections.loaded?.undoLast() ?? false);
}
