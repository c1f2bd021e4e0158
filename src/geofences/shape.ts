import { type Box, circleBoxes } from "../model/geo/box.ts";
import { haversineMeters } from "../model/geo/distance.ts";
import type { Area, Circle, Corridor, Line, Polygons } from "../model/watches/area.ts";
import { edgeCount, metersToLines } from "./border.ts";
import { coveringBoxes } from "./covering-boxes.ts";
import { type Frame, frameOf } from "./frame.ts";
import { greatestInnerMeters } from "./inner-distance.ts";
import { borderOf } from "./polygon-border.ts";
import { createRing, type Ring, sideOfRing, unrollLine } from "./ring.ts";

/** An area, prepared for many questions. */
export interface Shape {
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

function polygonShape({ polygons }: Polygons): Shape {
  const rings = polygons.flatMap((polygon) => polygon.map((line, index) => createRing(line, index === 0)));
  const border = borderOf(rings);
  const [first] = rings;
  const isSingle = rings.length === 1 && border[0] === first!.line && first!.pole === 0;
  return isSingle ? new RingShape(first!) : new PolygonShape(rings, border);
}

class CircleShape implements Shape {
  readonly #circle: Circle;

  constructor(circle: Circle) {
    this.#circle = circle;
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
  readonly #bufferMeters: number;
  readonly #lines: readonly Line[];
  readonly #frame: Frame;

  constructor({ line, bufferMeters }: Corridor) {
    this.#bufferMeters = bufferMeters;
    this.#lines = [unrollLine(line)];
    this.#frame = frameOf(this.#lines);
  }

  get boxes(): readonly Box[] {
    return coveringBoxes([this.#frame], this.#bufferMeters);
  }

  get accuracyMetersMax(): number {
    return this.#bufferMeters / 2;
  }

  distanceMeters(latitude: number, longitude: number): number {
    return this.#bufferMeters - metersToLines(this.#lines, this.#frame, latitude, longitude);
  }

  contains(latitude: number, longitude: number): boolean {
    return this.distanceMeters(latitude, longitude) >= 0;
  }
}

/** Most areas are a single ring. There may be 100,000 of them, so one has as little besides as possible. */
class RingShape implements Shape {
  readonly #ring: Ring;
  #accuracyMetersMax = Number.NaN;

  constructor(ring: Ring) {
    this.#ring = ring;
  }

  get boxes(): readonly Box[] {
    return coveringBoxes([this.#ring], 0);
  }

  get accuracyMetersMax(): number {
    if (Number.isNaN(this.#accuracyMetersMax))
      this.#accuracyMetersMax = greatestInnerMeters([this.#ring], edgeCount([this.#ring.line]), this) / 2;
    return this.#accuracyMetersMax;
  }

  distanceMeters(latitude: number, longitude: number): number {
    ONE_LINE[0] = this.#ring.line;
    const meters = metersToLines(ONE_LINE, this.#ring, latitude, longitude);
    return this.contains(latitude, longitude) ? meters : -meters;
  }

  contains(latitude: number, longitude: number): boolean {
    return sideOfRing(this.#ring, latitude, longitude) >= 0;
  }
}

/** The lines of the ring that is asked. */
const ONE_LINE: Line[] = [];

class PolygonShape implements Shape {
  /** The rings of one polygon after the other: an outer ring, then its holes. */
  readonly #rings: readonly Ring[];
  readonly #border: readonly Line[];
  readonly #frame: Frame;
  #accuracyMetersMax = Number.NaN;

  constructor(rings: readonly Ring[], border: readonly Line[]) {
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
