import { type Box, circleBoxes } from "../model/geo/box.ts";
import { haversineMeters } from "../model/geo/distance.ts";
import type { Area, Circle, Corridor, Polygon, Polygons } from "../model/watches/area.ts";
import { Border } from "./border.ts";
import { coveringBoxes } from "./covering-boxes.ts";
import { type Frame, greatestInnerMeters } from "./inner-distance.ts";
import { borderOf } from "./polygon-border.ts";
import { createRing, frameOf, type Ring, sideOfRing, unrollLine } from "./ring.ts";

/** An area, prepared for many questions. */
export interface Shape {
  /** Meters from the border along the sphere: positive inside, negative outside. */
  distanceMeters(latitude: number, longitude: number): number;
  /** Whether a position is inside or on the border; cheaper than the distance. */
  contains(latitude: number, longitude: number): boolean;
  /**
   * What an accuracy counts for at most: half the radius, half the corridor's buffer, or half of the greatest inner
   * distance, which is found within 1 % when it is first asked for.
   */
  readonly accuracyMetersMax: number;
  /** Boxes that contain the area: two if it crosses ±180°. */
  readonly boxes: readonly Box[];
}

/** The area must be valid. */
export function createShape(area: Area): Shape {
  switch (area.type) {
    case "Point":
      return new CircleShape(area);
    case "LineString":
      return new CorridorShape(area);
    default:
      return new PolygonShape(area);
  }
}

class CircleShape implements Shape {
  readonly #circle: Circle;
  readonly boxes: readonly Box[];

  constructor(circle: Circle) {
    this.#circle = circle;
    this.boxes = circleBoxes(circle.latitude, circle.longitude, circle.radiusMeters);
  }

  get accuracyMetersMax(): number {
    return this.#circle.radiusMeters / 2;
  }

  distanceMeters(latitude: number, longitude: number): number {
    const circle = this.#circle;
    return circle.radiusMeters - haversineMeters(circle.latitude, circle.longitude, latitude, longitude);
  }

  contains(latitude: number, longitude: number): boolean {
    return this.distanceMeters(latitude, longitude) >= 0;
  }
}

class CorridorShape implements Shape {
  readonly #bufferMeters: number;
  readonly #line: Border;
  readonly boxes: readonly Box[];

  constructor({ line, bufferMeters }: Corridor) {
    const unrolled = unrollLine(line);
    this.#bufferMeters = bufferMeters;
    this.#line = new Border([unrolled]);
    this.boxes = coveringBoxes([frameOf(unrolled)], bufferMeters);
  }

  get accuracyMetersMax(): number {
    return this.#bufferMeters / 2;
  }

  distanceMeters(latitude: number, longitude: number): number {
    return this.#bufferMeters - this.#line.distanceMeters(latitude, longitude);
  }

  contains(latitude: number, longitude: number): boolean {
    return this.distanceMeters(latitude, longitude) >= 0;
  }
}

class PolygonShape implements Shape {
  /** The outer ring of each polygon, then its holes. */
  readonly #polygons: readonly (readonly Ring[])[];
  readonly #border: Border;
  readonly boxes: readonly Box[];
  #accuracyMetersMax = Number.NaN;

  constructor({ polygons }: Polygons) {
    this.#polygons = polygons.map((polygon: Polygon) => polygon.map(createRing));
    this.#border = new Border(borderOf(this.#polygons.flat()));
    this.boxes = coveringBoxes(this.#outerFrames(), 0);
  }

  get accuracyMetersMax(): number {
    if (Number.isNaN(this.#accuracyMetersMax)) {
      const innerMeters = greatestInnerMeters(this.#outerFrames(), this.#border.edgeCount, (lat, lon) =>
        this.distanceMeters(lat, lon),
      );
      this.#accuracyMetersMax = innerMeters / 2;
    }
    return this.#accuracyMetersMax;
  }

  distanceMeters(latitude: number, longitude: number): number {
    const meters = this.#border.distanceMeters(latitude, longitude);
    return this.contains(latitude, longitude) ? meters : -meters;
  }

  contains(latitude: number, longitude: number): boolean {
    for (const rings of this.#polygons) {
      let ring = 0;
      if (sideOfRing(rings[ring]!, latitude, longitude) < 0) continue;
      for (ring = 1; ring < rings.length; ring++)
        if (sideOfRing(rings[ring]!, latitude, longitude) > 0) break;
      if (ring === rings.length) return true;
    }
    return false;
  }

  #outerFrames(): readonly Frame[] {
    return this.#polygons.map(([outer]) => outer!);
  }
}
