import type { ExpressionSpecification, LayerSpecification } from "maplibre-gl";
import type { Place, Position } from "../geo/earth.ts";
import { colorText, type MapColors } from "../gl/map-colors.ts";
import type { SpeedPiece, SpeedScale } from "../history/speed-line.ts";
import { correctionLayers } from "./correction-layers.ts";
import { MEDIUM, ROUND } from "./layer-parts.ts";

/** A device's day on the map. */
export interface DayShape {
  /** Lines break at gaps and jumps, where the route is unknown. */
  readonly lines: readonly (readonly Position[])[];
  /** The lines in bands of speed; empty without a scale. */
  readonly pieces: readonly SpeedPiece[];
  readonly scale: SpeedScale | null;
  readonly stops: readonly StopMark[];
  /** The ends of the track, with their names. */
  readonly ends: readonly EndMark[];
}

export interface StopMark extends Place {
  readonly number: number;
  readonly duration: string;
}

export interface EndMark extends Place {
  readonly name: "Start" | "End";
}

/** The direction marks' image, which the layers name. */
export const DIRECTION_IMAGE = "direction";
export const DIRECTION_PIXEL_RATIO = 2;

const IMAGE_PIXELS = 32;
/** MapLibre's encoding of distances: the edge is at a share of the alpha, which changes by 1 over 8 pixels. */
const EDGE_SHARE = 0.75;
const REACH_PIXELS = 8;
const STROKE_PIXELS = 3;

/** A chevron that points up, as distances from its edge, so that MapLibre can color it and draw its halo. */
export function directionImage(): {
  readonly width: number;
  readonly height: number;
  readonly data: Uint8Array;
} {
  const data = new Uint8Array(4 * IMAGE_PIXELS * IMAGE_PIXELS);
  const middle = IMAGE_PIXELS / 2;
  for (let y = 0; y < IMAGE_PIXELS; y++)
    for (let x = 0; x < IMAGE_PIXELS; x++) {
      // Both arms are the same one, mirrored. It leads from the tip at (0, -5) to (8, 5).
      const [right, down] = [Math.abs(x + 0.5 - middle), y + 0.5 - middle + 5];
      const part = Math.min(1, Math.max(0, (right * 8 + down * 10) / 164));
      const pixels = Math.hypot(right - part * 8, down - part * 10) - STROKE_PIXELS;
      const alpha = EDGE_SHARE - pixels / REACH_PIXELS;
      data[4 * (y * IMAGE_PIXELS + x) + 3] = Math.round(255 * Math.min(1, Math.max(0, alpha)));
    }
  return { width: IMAGE_PIXELS, height: IMAGE_PIXELS, data };
}

const ALWAYS = { "text-allow-overlap": true, "text-ignore-placement": true } as const;

/** The line of the day, below the names of places. */
export function dayLineLayers(colors: MapColors): LayerSpecification[] {
  const { accent, edge, old, text } = colors;
  const ofBand = [
    "match",
    ["get", "band"],
    ...colors.speeds.flatMap((color, band) => [band, colorText(color)]),
  ];
  const bandColor = [...ofBand, colorText(old)] as unknown as ExpressionSpecification;
  return [
    {
      id: "trails",
      type: "line",
      source: "trails",
      layout: ROUND,
      paint: { "line-color": colorText(accent), "line-width": 3, "line-opacity": 0.6 },
    },
    {
      id: "day-edge",
      type: "line",
      source: "day-lines",
      layout: ROUND,
      paint: { "line-color": colorText(edge), "line-width": 8, "line-opacity": 0.8 },
    },
    {
      id: "day-line",
      type: "line",
      source: "day-lines",
      layout: ROUND,
      paint: { "line-color": colorText(accent), "line-width": 4 },
    },
    {
      id: "day-speed",
      type: "line",
      source: "day-speeds",
      layout: ROUND,
      paint: { "line-color": bandColor, "line-width": 4 },
    },
    {
      id: "day-directions",
      type: "symbol",
      source: "day-directions",
      layout: {
        "icon-image": DIRECTION_IMAGE,
        "icon-rotate": ["get", "bearing"],
        "icon-rotation-alignment": "map",
        "icon-allow-overlap": true,
        "icon-ignore-placement": true,
      },
      paint: { "icon-color": colorText(text), "icon-halo-color": colorText(edge), "icon-halo-width": 1.5 },
    },
  ];
}

/** The stops, the ends and the moment of the day, over everything else. */
export function dayMarkLayers(colors: MapColors): LayerSpecification[] {
  const [accent, edge, text] = [colorText(colors.accent), colorText(colors.edge), colorText(colors.text)];
  const label = { "text-color": text, "text-halo-color": edge, "text-halo-width": 1.6 };
  return [
    ...correctionLayers(colors),
    {
      id: "end-dots",
      type: "circle",
      source: "day-ends",
      paint: {
        "circle-radius": 6,
        "circle-color": text,
        "circle-stroke-color": edge,
        "circle-stroke-width": 2.5,
      },
    },
    {
      id: "end-names",
      type: "symbol",
      source: "day-ends",
      layout: {
        "text-field": ["get", "name"],
        "text-font": MEDIUM,
        "text-size": 13,
        // On two sides, since a day often ends where it began.
        "text-anchor": ["match", ["get", "name"], "Start", "right", "left"],
        "text-offset": ["match", ["get", "name"], "Start", ["literal", [-0.9, 0]], ["literal", [0.9, 0]]],
        ...ALWAYS,
      },
      paint: label,
    },
    {
      id: "stop-rings",
      type: "circle",
      source: "day-stops",
      paint: {
        "circle-radius": 9,
        "circle-color": edge,
        "circle-stroke-color": accent,
        "circle-stroke-width": 2.5,
      },
    },
    {
      id: "stop-durations",
      type: "symbol",
      source: "day-stops",
      layout: {
        "text-field": ["get", "duration"],
        "text-font": MEDIUM,
        "text-size": 12,
        "text-anchor": "top",
        "text-offset": [0, 1.1],
      },
      paint: label,
    },
    {
      id: "stop-numbers",
      type: "symbol",
      source: "day-stops",
      layout: { "text-field": ["get", "number"], "text-font": MEDIUM, "text-size": 12, ...ALWAYS },
      paint: { "text-color": accent },
    },
    {
      id: "moment-dot",
      type: "circle",
      source: "day-moment",
      paint: {
        "circle-radius": 6,
        "circle-color": edge,
        "circle-stroke-color": text,
        "circle-stroke-width": 3,
      },
    },
    {
      id: "moment-text",
      type: "symbol",
      source: "day-moment",
      layout: {
        "text-field": ["get", "text"],
        "text-font": MEDIUM,
        "text-size": 13,
        "text-anchor": "bottom",
        "text-max-width": 30,
        "text-offset": [0, -1.3],
        ...ALWAYS,
      },
      paint: { ...label, "text-halo-width": 2.5 },
    },
  ];
}
