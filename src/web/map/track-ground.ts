import type { HeatmapLayerSpecification, MapLibreMap, VectorSourceSpecification } from "maplibre-gl";
import type { ThemeName } from "../shell/theme.ts";
import { isCoveredBy, type TileMap } from "./base-map.ts";
import { byZoom } from "./layer-parts.ts";
import { PALETTES } from "./palette.ts";
import { repaint } from "./style.ts";

/*
 * The ground of a city without streets: where devices have been in the last 90 days, drawn faintly. MapLibre keeps the
 * tiles that it has, so moving the map asks for new ones only.
 */

const NAME = "tracks";
/** From here on streets would be seen. */
const ZOOM_MIN = 11;
/** Finer tiles of the server have no more cells than these. */
const ZOOM_MAX = 13;

/** What the ground is drawn with. */
export interface Ground {
  readonly theme: ThemeName;
  /** The operator's streets, where there is nothing to add. */
  readonly streets: TileMap | null;
}

export class TrackGround {
  readonly #origin: string;
  #isOn = false;
  #placed: { readonly map: MapLibreMap; readonly below: string | undefined; ground: Ground } | null = null;

  constructor(origin: string) {
    this.#origin = origin;
  }

  /** Shows the tracks, or removes them with all their tiles. */
  show(isOn: boolean): void {
    if (isOn === this.#isOn) return;
    this.#isOn = isOn;
    this.#update();
  }

  /** Attaches to a map whose style is loaded. The layer goes below the given one. */
  addTo(map: MapLibreMap, ground: Ground, below: string | undefined): void {
    this.#placed = { map, below, ground };
    // After a loss of the WebGL context MapLibre restores the layer, but not our own ones, which it was below.
    if (map.getLayer(NAME) !== undefined) map.removeLayer(NAME);
    this.#update();
  }

  paint(ground: Ground): void {
    if (this.#placed === null) return;
    this.#placed.ground = ground;
    if (this.#isOn) repaint(this.#placed.map, [trackLayer(ground)]);
  }

  /** Detaches from the map until `addTo`. */
  leave(): void {
    this.#placed = null;
  }

  #update(): void {
    if (this.#placed === null) return;
    const { map, below, ground } = this.#placed;
    if (this.#isOn) {
      if (map.getSource(NAME) === undefined) map.addSource(NAME, trackSource(this.#origin));
      if (map.getLayer(NAME) === undefined) map.addLayer(trackLayer(ground), below);
    } else {
      if (map.getLayer(NAME) !== undefined) map.removeLayer(NAME);
      if (map.getSource(NAME) !== undefined) map.removeSource(NAME);
    }
  }
}

export function trackSource(origin: string): VectorSourceSpecification {
  return {
    type: "vector",
    tiles: [`${origin}/api/v1/tiles/{z}/{x}/{y}.mvt?layer=tracks`],
    minzoom: ZOOM_MIN,
    maxzoom: ZOOM_MAX,
  };
}

/** Cells as soft spots, which join to lines where a fleet drives. */
export function trackLayer({ theme, streets }: Ground): HeatmapLayerSpecification {
  const { track } = PALETTES[theme];
  return {
    id: NAME,
    type: "heatmap",
    source: NAME,
    "source-layer": NAME,
    minzoom: ZOOM_MIN,
    maxzoom: 17,
    ...(streets === null ? {} : { filter: ["!", isCoveredBy(streets)] }),
    paint: {
      // A street that was driven once counts, and one with a hundred times as many positions is twice as strong.
      "heatmap-weight": ["interpolate", ["linear"], ["ln", ["get", "count"]], 0, 0.5, 4.6, 1],
      // From zoom 14 on about two cells, so that they join. A cell is as wide as the error of a position, so there is
      // nothing to see beyond zoom 17.
      "heatmap-radius": byZoom([11, 4.5], [13, 6.5], [14, 8.5], [15, 17], [16, 34], [17, 68]),
      "heatmap-intensity": byZoom([11, 0.7], [14, 1]),
      "heatmap-color": [
        "interpolate",
        ["linear"],
        ["heatmap-density"],
        0,
        `${track}00`,
        0.1,
        `${track}00`,
        0.36,
        track,
      ],
      "heatmap-opacity": byZoom([11, 0.7], [14, 0.9], [16, 0.8], [17, 0]),
    },
  };
}
