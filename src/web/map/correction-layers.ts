import type { LayerSpecification } from "maplibre-gl";
import type { Place, Position } from "../geo/earth.ts";
import { colorText, type MapColors } from "../gl/map-colors.ts";
import { ofKind, ROUND } from "./layer-parts.ts";

/** A position that is probably wrong, or one that the user has selected. */
export interface DayMark extends Place {
  readonly kind: "suspect" | "selected";
}

/** A position that the user moves. */
export interface MoveMark {
  readonly from: Place;
  readonly to: Place;
  /** The line of the day through it, as it would be. */
  readonly line: readonly Position[];
  /** The name of the handle. */
  readonly label: string;
}

/** Rings around suspicious positions, dots at selected ones, and the way of a position that is being moved. */
export function correctionLayers({ accent, aging, edge, text }: MapColors): LayerSpecification[] {
  return [
    {
      id: "move-edge",
      type: "line",
      source: "day-move",
      layout: ROUND,
      paint: { "line-color": colorText(edge), "line-width": 6, "line-opacity": 0.85 },
    },
    {
      id: "move-line",
      type: "line",
      source: "day-move",
      filter: ofKind("line"),
      layout: ROUND,
      paint: { "line-color": colorText(accent), "line-width": 3 },
    },
    {
      id: "move-shift",
      type: "line",
      source: "day-move",
      filter: ofKind("shift"),
      paint: { "line-color": colorText(text), "line-width": 2.5, "line-dasharray": [2, 1.2] },
    },
    {
      id: "suspect-edges",
      type: "circle",
      source: "day-marks",
      filter: ofKind("suspect"),
      paint: {
        "circle-radius": 10,
        "circle-opacity": 0,
        "circle-stroke-color": colorText(edge),
        "circle-stroke-width": 6,
      },
    },
    {
      id: "suspect-rings",
      type: "circle",
      source: "day-marks",
      filter: ofKind("suspect"),
      paint: {
        "circle-radius": 11,
        "circle-opacity": 0,
        "circle-stroke-color": colorText(aging),
        "circle-stroke-width": 3.5,
      },
    },
    {
      id: "selected-dots",
      type: "circle",
      source: "day-marks",
      filter: ofKind("selected"),
      paint: {
        "circle-radius": 5,
        "circle-color": colorText(text),
        "circle-stroke-color": colorText(edge),
        "circle-stroke-width": 2,
      },
    },
  ];
}
