import type { ExpressionSpecification, GeoJSONSource, LayerSpecification, MapLibreMap } from "maplibre-gl";
import type { DeviceLook } from "../devices/device-table.ts";
import { latitudeOf, longitudeOf } from "../geo/world.ts";
import { DOT_LEVELS, DOT_WORDS, type DotBuffer, type DotView } from "../gl/dot-buffer.ts";
import { dotViewOf } from "../gl/dots-layer.ts";
import { flatCamera } from "../gl/gl-layer.ts";
import { type GlidePace, MANY_DOTS } from "../gl/glide-pace.ts";
import { colorText, type MapColors } from "../gl/map-colors.ts";
import { Pace } from "../time/pace.ts";
import { LabelBadges } from "./label-badges.ts";
import { MEDIUM, REGULAR } from "./layer-parts.ts";
import { repaint } from "./style.ts";

/** The devices whose names are shown. */
export interface NamedDevices {
  readonly table: { readonly labels: readonly string[]; lookOf(row: number): DeviceLook | null };
  readonly buffer: DotBuffer;
  readonly chosenRow: () => number | null;
  /** Whether the dots are faded, under the heatmap; then the chosen one alone has a name. */
  readonly areFaded: () => boolean;
  readonly pace: Pick<GlidePace, "isSlow">;
}

/** From this zoom on the devices in view have names; the chosen one always has. */
const NAMES_ZOOM = 11;

/** More devices in view are thinned out to one for each cell of a grid over the view. */
const NAMES_MAX = 240;
const [CELL_COLUMNS, CELL_ROWS] = [12, 20];

/** The longest name, in characters. */
const NAME_MAX = 24;

/** Names follow their dots this often: MapLibre places them anew each time, in a worker. */
const PACE_MS = 200;

/**
 * If the browser draws slowly, names follow at this pace, since each time costs some frames; and of many devices only
 * the chosen one has a name.
 */
const SLOW_PACE_MS = 3000;

/** A name is set to where its dot will be in the middle of the pace, after the worker's time. */
const LEAD_MS = 150;

const SOURCE = "device-names";
const LAYER = "device-names";
const EMPTY: GeoJSON.FeatureCollection = { type: "FeatureCollection", features: [] };

/**
 * MapLibre lets a name fade in anew if it has moved by more than 4 pixels of a tile. Tiles of this zoom, shown larger,
 * make that 80 m at the equator; and names are placed to 2 m, which is 4 pixels at zoom 17.
 */
const TILES_ZOOM_MAX = 11;

/** An image without color behind the chosen device, so that names of places keep clear of it. */
const ROOM_IMAGE = "room";
const ROOM_PIXELS = 32;

/** The names of the devices in view with their badges, without collisions, over the names of places. */
export class DeviceNames {
  readonly #devices: NamedDevices;
  #map: MapLibreMap | null = null;
  readonly #pace = new Pace(() => this.#show(), PACE_MS);
  readonly #badges = new LabelBadges();
  #colors: MapColors | null = null;
  /** The names on the map, as text, so that they are not set again. */
  #shown = "";
  #shownMs = Number.NEGATIVE_INFINITY;
  #chosenRow: number | null = null;

  constructor(devices: NamedDevices) {
    this.#devices = devices;
  }

  /** Adds the layer on top once the map's style is loaded, or loaded again after a loss of the WebGL context. */
  addTo(map: MapLibreMap, colors: MapColors): void {
    this.#map = map;
    this.#colors = colors;
    this.#shown = "";
    if (map.getLayer(LAYER) !== undefined) map.removeLayer(LAYER);
    if (map.getSource(SOURCE) === undefined)
      map.addSource(SOURCE, { type: "geojson", data: EMPTY, maxzoom: TILES_ZOOM_MAX, tolerance: 0 });
    if (!map.hasImage(ROOM_IMAGE))
      map.addImage(ROOM_IMAGE, {
        width: ROOM_PIXELS,
        height: ROOM_PIXELS,
        data: new Uint8Array(4 * ROOM_PIXELS * ROOM_PIXELS),
      });
    map.addLayer(deviceNameLayer(colors));
    map.off("move", this.update);
    map.on("move", this.update);
    this.update();
  }

  /** Detaches from the map until `addTo`. */
  leave(): void {
    this.#map = null;
  }

  paint(colors: MapColors): void {
    this.#colors = colors;
    if (this.#map === null) return;
    repaint(this.#map, [deviceNameLayer(colors)]);
    this.update(); // Badges without a color of their own have one of the theme.
  }

  /** Follows dots, camera and choice soon. */
  readonly update = (): void => this.#pace.soon();

  #show(): void {
    const map = this.#map;
    const colors = this.#colors;
    if (map === null || colors === null) return;
    if (!map.isSourceLoaded(SOURCE)) {
      this.update(); // The worker is busy with the last names.
      return;
    }
    const { buffer, chosenRow, areFaded, pace } = this.#devices;
    const nowMs = performance.now();
    const isSlow = pace.isSlow(nowMs);
    if (isSlow && nowMs < this.#shownMs + SLOW_PACE_MS && chosenRow() === this.#chosenRow) {
      this.update();
      return;
    }
    const isTooSlow = isSlow && buffer.size > MANY_DOTS;
    const isNear = map.getZoom() >= NAMES_ZOOM && !areFaded() && !isTooSlow;
    const rows = namedRows(buffer, dotViewOf(map, flatCamera(map)), isNear, chosenRow());
    this.#badges.tidy(map);
    const features = rows.map((row) => this.#featureOf(row, nowMs, map, colors));
    const text = JSON.stringify(features);
    if (text !== this.#shown) {
      this.#shown = text;
      this.#shownMs = nowMs;
      this.#chosenRow = chosenRow();
      map.getSource<GeoJSONSource>(SOURCE)?.setData({ type: "FeatureCollection", features });
    }
    if (rows.some((row) => buffer.isGliding(row, nowMs))) this.update();
  }

  #featureOf(row: number, nowMs: number, map: MapLibreMap, colors: MapColors): GeoJSON.Feature {
    const { table, buffer, chosenRow } = this.#devices;
    const { x, y } = buffer.positionAt(row, nowMs + LEAD_MS);
    return {
      type: "Feature",
      geometry: { type: "Point", coordinates: [longitudeOf(x), latitudeOf(y)] },
      properties: {
        name: shortName(table.labels[row] ?? ""),
        badge: this.#badges.imageFor(map, table.lookOf(row), colors),
        row,
        chosen: row === chosenRow(),
      },
    };
  }
}

/** The rows that have names: the chosen one, and those in view if `isNear`; some of them if they are many. */
export function namedRows(
  buffer: DotBuffer,
  view: DotView,
  isNear: boolean,
  chosenRow: number | null,
): number[] {
  const chosen = chosenRow !== null && chosenRow < buffer.size ? [chosenRow] : [];
  if (!isNear) return chosen;
  const rows = rowsInView(buffer, view, null);
  const some =
    rows.length <= NAMES_MAX ? rows : rowsInView(buffer, view, new Uint8Array(CELL_COLUMNS * CELL_ROWS));
  return [...chosen, ...some.filter((row) => row !== chosenRow)];
}

/** At most `NAMES_MAX + 1` rows in view, or the first row of each cell if there are cells. */
function rowsInView(buffer: DotBuffer, { center, reach }: DotView, cells: Uint8Array | null): number[] {
  const { words, size } = buffer;
  const [centerX, centerY] = center;
  const [reachX, reachY] = reach;
  const rows: number[] = [];
  for (let row = 0, at = 2; row < size && rows.length <= NAMES_MAX; row++, at += DOT_WORDS) {
    const right = ((words[at]! - centerX) | 0) + reachX;
    const down = words[at + 1]! - centerY + reachY;
    if (right < 0 || right >= 2 * reachX || down < 0 || down >= 2 * reachY) continue;
    if (buffer.levelOf(row) === DOT_LEVELS.dim) continue;
    if (cells !== null) {
      const column = Math.floor((right / (2 * reachX)) * CELL_COLUMNS);
      const cell = Math.floor((down / (2 * reachY)) * CELL_ROWS) * CELL_COLUMNS + column;
      if (cells[cell] === 1) continue;
      cells[cell] = 1;
    }
    rows.push(row);
  }
  return rows;
}

/** A name in one line, cut if it is long. Whatever it contains is shown as text. */
export function shortName(label: string): string {
  const characters = [...label.replace(/\s+/g, " ")];
  return characters.length <= NAME_MAX
    ? characters.join("")
    : `${characters.slice(0, NAME_MAX - 1).join("")}…`;
}

const CENTERED = { "vertical-align": "center" } as const;

/** The layer of the names. A name is beside its dot, on the side that is free. */
export function deviceNameLayer({ text, edge }: MapColors): LayerSpecification {
  const isChosen: ExpressionSpecification = ["get", "chosen"];
  return {
    id: LAYER,
    type: "symbol",
    source: SOURCE,
    layout: {
      "text-field": [
        "case",
        ["==", ["get", "badge"], ""],
        ["format", ["get", "name"], {}],
        ["format", ["image", ["get", "badge"]], CENTERED, ["get", "name"], CENTERED],
      ],
      "text-font": ["case", isChosen, ["literal", MEDIUM], ["literal", REGULAR]],
      "text-size": ["case", isChosen, 14, 12],
      "text-variable-anchor": ["left", "right", "top", "bottom"],
      "text-radial-offset": ["case", isChosen, 1.6, 0.95],
      "text-justify": "auto",
      "text-max-width": 40,
      "text-optional": true,
      "icon-image": ["case", isChosen, ROOM_IMAGE, ""],
      "icon-allow-overlap": true,
      "symbol-sort-key": ["case", isChosen, -1, ["get", "row"]],
    },
    paint: { "text-color": colorText(text), "text-halo-color": colorText(edge), "text-halo-width": 1.6 },
  };
}
