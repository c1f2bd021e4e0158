import { type Box, circleBoxes } from "../model/geo/box.ts";
import { haversineMeters } from "../model/geo/distance.ts";
import type { Area, Circle, Corridor, Line, Polygons } from "../model/watches/area.ts";
import { edgeCount, metersToLines } from "./border.ts";
import { boxesAround, coveringBoxes } from "./covering-boxes.ts";
import { type Frame, frameOf } from "./frame.ts";
import { greatestInnerMeters } from "./inner-distance.ts";
import { borderOf } from "./polygon-border.ts";
import { createRing, type Ring, sideOfRing, unrollLine } from "./ring.ts";

/** An area, prepared for many questions. */
export interface Shape {
  /** What the shape was created from, or its equal. */
  readonly area: Area;
  /** Meters from the border along the sphere: positive inside, negative outside. */
  distanceMeters(latitude: number, longitude: number): number;
  /** Whether a position is inside or on the border; cheaper than the distance. */
  contains(latitude: number, longitude: number): boolean;
  /**
   * What an accuracy counts for at most: half the radius, half the corridor's buffer, or half of the greatest inner
   * distance, which is found when it is first asked for: within 1 %, or as far as a bounded search comes.
   */
  readonly accuracyMetersMax: number;
  /** Boxes that contain the area: two if it crosses ±180°. They are made when they are asked for. */
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
      return polygonShape(area);
  }
}

function polygonShape(area: Polygons): Shape {
  const { type, polygons } = area;
  const rings = polygons.flatMap((polygon) => polygon.map((line, index) => createRing(line, index === 0)));
  const border = borderOf(rings);
  const [first] = rings;
  const line = polygons[0]![0]!;
  const isSingle = rings.length === 1 && first!.line === line && border[0] === line && first!.pole === 0;
  return isSingle && type === "Polygon" ? new RingShape(first!) : new PolygonShape(area, rings, border);
}

class CircleShape implements Shape {
  readonly #circle: Circle;

  constructor(circle: Circle) {
    this.#circle = circle;
  }

  get area(): Area {
    return this.#circle;
  }

  get boxes(): readonly Box[] {
    const { latitude, longitude, radiusMeters } = this.#circle;
    return circleBoxes(latitude, longitude, radiusMeters);
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
  readonly area: Corridor;
  readonly #lines: readonly Line[];
  readonly #frame: Frame;

  constructor(area: Corridor) {
    this.area = area;
    this.#lines = [unrollLine(area.line)];
    this.#frame = frameOf(this.#lines);
  }

  get boxes(): readonly Box[] {
    return boxesAround(this.#frame, this.area.bufferMeters);
  }

  get accuracyMetersMax(): number {
    return this.area.bufferMeters / 2;
  }

  distanceMeters(latitude: number, longitude: number): number {
    return this.area.bufferMeters - metersToLines(this.#lines, this.#frame, latitude, longitude);
  }

  contains(latitude: number, longitude: number): boolean {
    return this.distanceMeters(latitude, longitude) >= 0;
  }
}

/**
 * Most areas are a single ring. There may be 100,000 of them, so one is a single object besides the corners, and makes
 * the area when it is asked for.
 */
class RingShape implements Shape, Ring {
  readonly line: Line;
  readonly west: number;
  readonly east: number;
  readonly minLatitude: number;
  readonly maxLatitude: number;
  #accuracyMetersMax = Number.NaN;

  constructor({ line, west, east, minLatitude, maxLatitude }: Ring) {
    this.line = line;
    this.west = west;
    this.east = east;
    this.minLatitude = minLatitude;
    this.maxLatitude = maxLatitude;
  }

  get pole(): 0 {
    return 0;
  }

  get isOuter(): true {
    return true;
  }

  get area(): Area {
    return { type: "Polygon", polygons: [[this.line]] };
  }

  get boxes(): readonly Box[] {
    return boxesAround(this, 0);
  }

  get accuracyMetersMax(): number {
    if (Number.isNaN(this.#accuracyMetersMax))
      this.#accuracyMetersMax = greatestInnerMeters([this], edgeCount([this.line]), this) / 2;
    return this.#accuracyMetersMax;
  }

  distanceMeters(latitude: number, longitude: number): number {
    ONE_LINE[0] = this.line;
    const meters = metersToLines(ONE_LINE, this, latitude, longitude);
    return this.contains(latitude, longitude) ? meters : -meters;
  }

  contains(latitude: number, longitude: number): boolean {
    return sideOfRing(this, latitude, longitude) >= 0;
  }
}

/** The lines of the ring that is asked. */
const ONE_LINE: Line[] = [];

class PolygonShape implements Shape {
  readonly area: Area;
  /** The rings of one polygon after the other: an outer ring, then its holes. */
  readonly #rings: readonly Ring[];
  readonly #border: readonly Line[];
  readonly #frame: Frame;
  #accuracyMetersMax = Number.NaN;

  constructor(area: Area, rings: readonly Ring[], border: readonly Line[]) {
    this.area = area;
    this.#rings = rings;
    this.#border = border;
    this.#frame = frameOf(border);
  }

  get boxes(): readonly Box[] {
    return coveringBoxes(this.#outerRings(), 0);
  }

  get accuracyMetersMax(): number {
    if (Number.isNaN(this.#accuracyMetersMax))
      this.#accuracyMetersMax = greatestInnerMeters(this.#outerRings(), edgeCount(this.#border), this) / 2;
    return this.#accuracyMetersMax;
  }

  distanceMeters(latitude: number, longitude: number): number {
    const meters = metersToLines(this.#border, this.#frame, latitude, longitude);
    return this.contains(latitude, longitude) ? meters : -meters;
  }

  contains(latitude: number, longitude: number): boolean {
    let isInside = false;
    for (const ring of this.#rings) {
      // Each outer ring begins another polygon. A hole does not have its border.
      if (ring.isOuter) {
        if (isInside) return true;
        isInside = sideOfRing(ring, latitude, longitude) >= 0;
      } else if (isInside && sideOfRing(ring, latitude, longitude) > 0) isInside = false;
    }
    return isInside;
  }

  #outerRings(): readonly Ring[] {
    return this.#rings.filter(({ isOuter }) => isOuter);
  }
}
