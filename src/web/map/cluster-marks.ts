import type { GeoJSONSource, LayerSpecification, MapLibreMap } from "maplibre-gl";
import { nearestMeridian, type Place } from "../geo/earth.ts";
import { shortCount } from "../geo/units.ts";
import { latitudeOf, longitudeOf } from "../geo/world.ts";
import type { DotBuffer } from "../gl/dot-buffer.ts";
import { clusterRadius, DotClusters } from "../gl/dot-clusters.ts";
import { colorText, type MapColors } from "../gl/map-colors.ts";
import { Pace } from "../time/pace.ts";
import { MEDIUM } from "./layer-parts.ts";
import { repaint } from "./style.ts";

const SOURCE = "clusters";
const EMPTY: GeoJSON.FeatureCollection = { type: "FeatureCollection", features: [] };

/** Counting takes some 2 ms for 200,000 devices. */
const PACE_MS = 300;

/** A click on a circle zooms in by this. */
const ZOOM_STEPS = 2;

interface Circle extends Place {
  /** In pixels. */
  readonly radius: number;
  readonly count: string;
}

/** Circles with the counts of dots that overlap, over everything but the chosen device. */
export class ClusterMarks {
  readonly #buffer: DotBuffer;
  readonly #areFaded: () => boolean;
  readonly #clusters = new DotClusters();
  readonly #pace = new Pace(() => this.#show(), PACE_MS);
  #circles: readonly Circle[] = [];
  #map: MapLibreMap | null = null;
  /** The whole zoom at the last count. */
  #zoom = Number.NaN;
  /** The circles on the map, as text, so that they are not set again. */
  #shown = "";

  /** While dots are faded, under the heatmap, there are no circles. */
  constructor(buffer: DotBuffer, areFaded: () => boolean) {
    this.#buffer = buffer;
    this.#areFaded = areFaded;
  }

  /** Adds the layers on top once the map's style is loaded, or loaded again after a loss of the WebGL context. */
  addTo(map: MapLibreMap, colors: MapColors): void {
    this.#map = map;
    this.#shown = "";
    for (const { id } of clusterLayers(colors)) if (map.getLayer(id) !== undefined) map.removeLayer(id);
    if (map.getSource(SOURCE) === undefined) map.addSource(SOURCE, { type: "geojson", data: EMPTY });
    for (const layer of clusterLayers(colors)) map.addLayer(layer);
    map.off("zoom", this.#zoomed);
    map.on("zoom", this.#zoomed);
    this.update();
  }

  /** Detaches from the map until `addTo`. */
  leave(): void {
    this.#map = null;
  }

  paint(colors: MapColors): void {
    if (this.#map !== null) repaint(this.#map, clusterLayers(colors));
  }

  get isShowing(): boolean {
    return this.#circles.length > 0;
  }

  /** Counts again soon. */
  update(): void {
    this.#pace.soon();
  }

  /** Where the map moves after a click at this pixel of the map; null if no circle is there. */
  targetAt(pixel: { readonly x: number; readonly y: number }): (Place & { readonly zoom: number }) | null {
    const map = this.#map;
    if (map === null) return null;
    const { lng } = map.unproject([pixel.x, pixel.y]);
    for (const { latitude, longitude, radius } of this.#circles) {
      const near = nearestMeridian(longitude, lng);
      const at = map.project([near, latitude]);
      if (Math.hypot(at.x - pixel.x, at.y - pixel.y) <= radius)
        return { latitude, longitude: near, zoom: map.getZoom() + ZOOM_STEPS };
    }
    return null;
  }

  readonly #zoomed = (): void => {
    if (this.#map !== null && Math.floor(this.#map.getZoom()) !== this.#zoom) this.update();
  };

  #show(): void {
    const map = this.#map;
    if (map === null) return;
    this.#zoom = Math.floor(map.getZoom());
    this.#clusters.update(this.#buffer, map.getZoom());
    const clusters = this.#areFaded() ? [] : this.#clusters.clusters;
    this.#circles = clusters.map(({ x, y, count }) => ({
      latitude: settled(latitudeOf(y)),
      longitude: settled(longitudeOf(x)),
      radius: Math.round(clusterRadius(count)),
      count: shortCount(count),
    }));
    const text = JSON.stringify(this.#circles);
    if (text === this.#shown) return;
    this.#shown = text;
    const features = this.#circles.map(({ latitude, longitude, radius, count }): GeoJSON.Feature => {
      const geometry = { type: "Point" as const, coordinates: [longitude, latitude] };
      return { type: "Feature", geometry, properties: { radius, count } };
    });
    map.getSource<GeoJSONSource>(SOURCE)?.setData({ type: "FeatureCollection", features });
  }
}

/** Rounds to some 5 pixels where there are clusters, so that a circle stays while its devices move. */
function settled(degrees: number): number {
  return Math.round(degrees * 20) / 20;
}

export function clusterLayers({ accent, edge }: MapColors): LayerSpecification[] {
  return [
    {
      id: "cluster-circles",
      type: "circle",
      source: SOURCE,
      paint: {
        "circle-radius": ["-", ["get", "radius"], 4],
        "circle-color": colorText(accent),
        "circle-stroke-color": colorText(accent),
        "circle-stroke-width": 4,
        "circle-stroke-opacity": 0.35,
      },
    },
    {
      id: "cluster-counts",
      type: "symbol",
      source: SOURCE,
      layout: {
        "text-field": ["get", "count"],
        "text-font": MEDIUM,
        "text-size": 13,
        "text-allow-overlap": true,
        "text-padding": 14, // Names of places keep clear of the circle.
      },
      paint: { "text-color": colorText(edge) },
    },
  ];
}
