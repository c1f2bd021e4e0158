import type { MapLibreMap } from "maplibre-gl";
import {
  type GeoJSONStoreFeatures,
  TerraDraw,
  TerraDrawCircleMode,
  TerraDrawModeUndoRedo,
  TerraDrawPolygonMode,
  TerraDrawSelectMode,
} from "terra-draw";
import { TerraDrawMapLibreGLAdapter } from "terra-draw-maplibre-gl-adapter";
import { circleShape } from "../geo/circle-shape.ts";
import type { Position } from "../geo/earth.ts";
import { circleOf, type DrawnShape } from "./drawn-shape.ts";

/* The only module that imports the code of the drawing tool. It is loaded when a user first draws. */

export interface DrawingParts {
  readonly map: MapLibreMap;
  /** `#rrggbb`. */
  readonly color: string;
  /** Called when a shape is complete, and after each change of it. */
  readonly onShape: (shape: DrawnShape) => void;
}

/** As many as the tool itself gives a circle. */
const CIRCLE_CORNERS = 64;
/** The tool takes no more decimals. */
const DECIMALS = 9;

/** Draws one shape on the map, by pointer, and lets the user change it. */
export class Drawing {
  readonly #draw: TerraDraw;
  #kind: DrawnShape["kind"] = "polygon";

  constructor({ map, color, onShape }: DrawingParts) {
    this.#draw = new TerraDraw({
      adapter: new TerraDrawMapLibreGLAdapter({ map, coordinatePrecision: DECIMALS }),
      modes: modesIn(color as `#${string}`, ({ properties }) => {
        return this.#kind === "polygon" || Number(properties.index) % CORNERS_A_HANDLE === 0;
      }),
      undoRedo: { modeLevel: new TerraDrawModeUndoRedo() },
    });
    this.#draw.on("finish", (id, { action }) => {
      const drawn = this.#draw.getSnapshotFeature(id);
      if (drawn === undefined) return;
      onShape(shapeOf(drawn));
      // The mode is still busy with the last click.
      if (action === "draw") queueMicrotask(() => this.#select(id));
    });
    this.#draw.start();
  }

  /** Lets the user draw a new shape in place of the old one. */
  begin(kind: DrawnShape["kind"]): void {
    this.#kind = kind;
    this.#draw.clear();
    this.#draw.setMode(kind);
  }

  /** Lets the user change a shape that is there. Returns false if the tool can't: it has no longitudes beyond 180. */
  edit(shape: DrawnShape): boolean {
    this.#kind = shape.kind;
    this.#draw.clear();
    this.#draw.setMode("select");
    const [added] = this.#draw.addFeatures([featureOf(shape)]);
    if (added?.valid !== true || added.id === undefined) return false;
    this.#select(added.id);
    return true;
  }

  /** Takes the last corner back; returns whether one was being drawn. */
  undo(): boolean {
    return this.#draw.canUndo() && this.#draw.undo();
  }

  /** Takes everything off the map. */
  close(): void {
    this.#draw.stop();
  }

  #select(id: string | number): void {
    if (this.#draw.enabled && this.#draw.hasFeature(id)) this.#draw.selectFeature(id);
  }
}

/** A circle has a handle in each quarter, though its whole edge can be dragged. */
const CORNERS_A_HANDLE = CIRCLE_CORNERS / 4;

function modesIn(color: `#${string}`, isHandle: (point: GeoJSONStoreFeatures) => boolean) {
  const area = { fillColor: color, fillOpacity: 0.2, outlineColor: color, outlineWidth: 3 };
  const chosen = {
    ...{ selectedPolygonColor: color, selectedPolygonFillOpacity: 0.2 },
    ...{ selectedPolygonOutlineColor: color, selectedPolygonOutlineWidth: 3 },
    ...{ selectionPointColor: color, midPointColor: color, midPointWidth: 4 },
    selectionPointWidth: (point: GeoJSONStoreFeatures) => (isHandle(point) ? 6 : 0),
    selectionPointOutlineWidth: (point: GeoJSONStoreFeatures) => (isHandle(point) ? 2 : 0),
  };
  const keyEvents = { cancel: null, finish: "Enter" };
  return [
    new TerraDrawPolygonMode({ styles: area, keyEvents, showCoordinatePoints: true }),
    new TerraDrawCircleMode({ styles: area, keyEvents, projection: "globe", segments: CIRCLE_CORNERS }),
    new TerraDrawSelectMode({
      styles: chosen,
      allowManualDeselection: false,
      keyEvents: { deselect: null, delete: "Delete", rotate: null, scale: null },
      flags: {
        polygon: {
          feature: {
            draggable: true,
            coordinates: { midpoints: true, draggable: true, deletable: true },
          },
        },
        circle: { feature: { draggable: true, coordinates: { resizable: "center-fixed" } } },
      },
    }),
  ];
}

function featureOf(shape: DrawnShape): GeoJSONStoreFeatures {
  const ring = shape.kind === "polygon" ? shape.ring : circleRing(shape);
  return {
    type: "Feature",
    geometry: { type: "Polygon", coordinates: [ring.map(rounded)] },
    properties: { mode: shape.kind },
  };
}

function circleRing({ center, radiusMeters }: DrawnShape & { kind: "circle" }): readonly Position[] {
  const [longitude, latitude] = center;
  return circleShape({ longitude, latitude }, radiusMeters, CIRCLE_CORNERS).edge;
}

function rounded([longitude, latitude]: Position): Position {
  return [Number(longitude.toFixed(DECIMALS)), Number(latitude.toFixed(DECIMALS))];
}

function shapeOf({ geometry, properties }: GeoJSONStoreFeatures): DrawnShape {
  const ring = (geometry.type === "Polygon" ? (geometry.coordinates[0] ?? []) : []) as Position[];
  return properties.mode === "circle" ? circleOf(ring) : { kind: "polygon", ring };
}
