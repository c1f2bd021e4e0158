import type { FilterSpecification, LayerSpecification, MapLibreMap } from "maplibre-gl";
import { circleShape } from "../geo/circle-shape.ts";
import { type Place, type Position, unwrapped } from "../geo/earth.ts";
import { colorText, type MapColors } from "../gl/map-colors.ts";
import type { DirectionMark } from "../history/direction-marks.ts";
import type { MomentMark } from "../history/moment.ts";
import type { DayMark, MoveMark } from "./correction-layers.ts";
import {
  type DayShape,
  DIRECTION_IMAGE,
  DIRECTION_PIXEL_RATIO,
  dayLineLayers,
  dayMarkLayers,
  directionImage,
} from "./day-layers.ts";
import { feature, GeoSources, point } from "./geo-sources.ts";
import { ROUND } from "./layer-parts.ts";
import { repaint } from "./style.ts";

export interface Circle extends Place {
  readonly radiusMeters: number;
}

const SOURCES = [
  "trails",
  "day-lines",
  "day-speeds",
  "day-directions",
  "day-ends",
  "day-stops",
  "day-moment",
  "day-marks",
  "day-move",
  "circle",
  "import-lines",
] as const;

/** A day's lines and stops, and a circle, over the base map. They survive a change of the style. */
export class Overlays {
  readonly #sources = new GeoSources(SOURCES);
  #map: MapLibreMap | null = null;

  /**
   * Adds the layers once the map's style is loaded. After a loss of the WebGL context MapLibre restores sources and
   * layers, but not our custom layers between them, so the layers are replaced. Lines go below the given layer, marks
   * on top.
   */
  addTo(map: MapLibreMap, colors: MapColors, below: string | undefined): void {
    this.#map = map;
    for (const layer of layersIn(colors)) if (map.getLayer(layer.id) !== undefined) map.removeLayer(layer.id);
    this.#sources.addTo(map);
    if (!map.hasImage(DIRECTION_IMAGE))
      map.addImage(DIRECTION_IMAGE, directionImage(), { sdf: true, pixelRatio: DIRECTION_PIXEL_RATIO });
    for (const layer of linesIn(colors)) map.addLayer(layer, below);
    for (const layer of dayMarkLayers(colors)) map.addLayer(layer);
  }

  /** Detaches from the map until `addTo`. */
  leave(): void {
    this.#map = null;
    this.#sources.leave();
  }

  paint(colors: MapColors): void {
    if (this.#map !== null) repaint(this.#map, layersIn(colors));
  }

  setDay(day: DayShape | null): void {
    const { lines, pieces, stops, ends } = day ?? { lines: [], pieces: [], stops: [], ends: [] };
    this.#sources.set("day-lines", [feature({ type: "MultiLineString", coordinates: lines.map(unwrapped) })]);
    this.#sources.set(
      "day-speeds",
      pieces.map(({ band, positions }) =>
        feature({ type: "LineString", coordinates: unwrapped(positions) }, { band }),
      ),
    );
    this.#sources.set(
      "day-stops",
      stops.map((stop) => point(stop, { ...stop, number: String(stop.number) })),
    );
    this.#sources.set(
      "day-ends",
      ends.map((end) => point(end, { name: end.name })),
    );
  }

  setTrails(lines: readonly (readonly Position[])[]): void {
    const coordinates = lines.map(unwrapped);
    this.#sources.set(
      "trails",
      coordinates.length === 0 ? [] : [feature({ type: "MultiLineString", coordinates })],
    );
  }

  setDirections(marks: readonly DirectionMark[]): void {
    this.#sources.set(
      "day-directions",
      marks.map((mark) => point(mark, { bearing: mark.bearing })),
    );
  }

  setMoment(mark: MomentMark | null): void {
    this.#sources.set("day-moment", mark === null ? [] : [point(mark, { text: mark.text })]);
  }

  setDayMarks(marks: readonly DayMark[]): void {
    this.#sources.set(
      "day-marks",
      marks.map((mark) => point(mark, { kind: mark.kind })),
    );
  }

  /** Shows where a position was and where it would be, and the line of the day through it. */
  setMove(move: MoveMark | null): void {
    if (move === null) {
      this.#sources.set("day-move", []);
      return;
    }
    const { from, to, line } = move;
    const shift = [from, to].map(({ longitude, latitude }): Position => [longitude, latitude]);
    this.#sources.set("day-move", [
      feature({ type: "LineString", coordinates: unwrapped(line) }, { kind: "line" }),
      feature({ type: "LineString", coordinates: unwrapped(shift) }, { kind: "shift" }),
    ]);
  }

  setCircle(circle: Circle | null): void {
    const shape = circle === null ? null : circleShape(circle, circle.radiusMeters);
    const features = [
      feature({ type: "Polygon", coordinates: shape?.area ?? [] }),
      feature({ type: "LineString", coordinates: shape?.edge ?? [] }),
    ];
    this.#sources.set("circle", shape === null ? [] : features);
  }

  /** The way of a file that may be imported. A line of one position is a dot. */
  setPreview(lines: readonly (readonly Position[])[]): void {
    this.#sources.set(
      "import-lines",
      lines.map((line) =>
        line.length === 1
          ? feature({ type: "Point", coordinates: line[0]! })
          : feature({ type: "LineString", coordinates: unwrapped(line) }),
      ),
    );
  }
}

function layersIn(colors: MapColors): LayerSpecification[] {
  return [...linesIn(colors), ...dayMarkLayers(colors)];
}

function linesIn(colors: MapColors): LayerSpecification[] {
  return [...circleLayers(colors), ...dayLineLayers(colors), ...previewLayers(colors)];
}

/** Dashed, so that it is not taken for a stored line. */
function previewLayers(colors: MapColors): LayerSpecification[] {
  const [text, edge] = [colorText(colors.text), colorText(colors.edge)];
  const isLine: FilterSpecification = ["==", ["geometry-type"], "LineString"];
  return [
    {
      id: "import-edge",
      type: "line",
      source: "import-lines",
      filter: isLine,
      layout: ROUND,
      paint: { "line-color": edge, "line-width": 7, "line-opacity": 0.85 },
    },
    {
      id: "import-line",
      type: "line",
      source: "import-lines",
      filter: isLine,
      paint: { "line-color": text, "line-width": 3, "line-dasharray": [2, 1] },
    },
    {
      id: "import-dots",
      type: "circle",
      source: "import-lines",
      filter: ["==", ["geometry-type"], "Point"],
      paint: {
        "circle-radius": 5,
        "circle-color": text,
        "circle-stroke-color": edge,
        "circle-stroke-width": 2,
      },
    },
  ];
}

function circleLayers(colors: MapColors): LayerSpecification[] {
  const accent = colorText(colors.accent);
  return [
    {
      id: "circle-area",
      type: "fill",
      source: "circle",
      filter: ["==", ["geometry-type"], "Polygon"],
      paint: { "fill-color": accent, "fill-opacity": 0.1, "fill-antialias": false },
    },
    {
      id: "circle-edge",
      type: "line",
      source: "circle",
      filter: ["==", ["geometry-type"], "LineString"],
      paint: { "line-color": accent, "line-width": 2, "line-dasharray": [2, 1.5] },
    },
  ];
}
