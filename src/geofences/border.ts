import { EARTH_RADIUS_METERS, RADIANS_PER_DEGREE } from "../model/geo/distance.ts";
import { setUnitVector, unitVector } from "../model/geo/unit-vector.ts";
import type { Line } from "../model/watches/area.ts";
import { NearestOnEdge } from "./nearest-on-edge.ts";

/** Subtracted from the lower bound of a distance, in radii: 6 µm, more than rounding adds. */
const ROUNDING = 1e-12;

/*
 * Shared, since one border is asked at a time. Of each of its edges: a lower bound of its distance in radii, and where
 * the nearest point of its chord is, from 0 to 1.
 */
const nearestOnEdge = new NearestOnEdge();
let bounds = new Float64Array(1024);
let starts = new Float64Array(1024);

/**
 * Lines whose edges are straight in longitudes and latitudes, and the distance to the nearest of them along the sphere:
 * within 0.1 mm, if that point is less than 1,000 km away and nearer than the poles; within 1 % for others.
 */
export class Border {
  readonly #lines: readonly Line[];
  /** The corners as unit vectors, three numbers each, line after line. */
  readonly #vectors: Float64Array;

  constructor(lines: readonly Line[]) {
    this.#lines = lines;
    this.#vectors = new Float64Array(lines.reduce((sum, line) => sum + (line.length / 2) * 3, 0));
    let corner = 0;
    for (const line of lines)
      for (let at = 0; at < line.length; at += 2)
        setUnitVector(this.#vectors, corner++, line[at + 1]!, line[at]!);
  }

  get edgeCount(): number {
    return this.#vectors.length / 3 - this.#lines.length;
  }

  distanceMeters(latitude: number, longitude: number): number {
    const likely = this.#boundEdges(latitude, longitude);
    nearestOnEdge.lookFrom(latitude, longitude);
    let haversine = this.#haversineTo(likely);
    let chord = 2 * Math.sqrt(haversine);
    let edge = 0;
    for (const line of this.#lines)
      for (let at = 2; at < line.length; at += 2, edge++) {
        if (bounds[edge]! >= chord || edge === likely) continue; // The edge that was measured is nearer.
        haversine = Math.min(haversine, nearestOnEdge.haversineTo(line, at, starts[edge]!));
        chord = 2 * Math.sqrt(haversine);
      }
    return 2 * EARTH_RADIUS_METERS * Math.asin(Math.min(1, Math.sqrt(haversine)));
  }

  #haversineTo(edge: number): number {
    let first = 0;
    for (const line of this.#lines) {
      const count = line.length / 2 - 1;
      if (edge < first + count) return nearestOnEdge.haversineTo(line, 2 * (edge - first) + 2, starts[edge]!);
      first += count;
    }
    return 1;
  }

  /**
   * Writes bounds and starts, and returns the edge with the least bound. No point of an edge is farther from the chord
   * than an eighth of the greatest second derivative, which is at most the square of the edge's span.
   */
  #boundEdges(latitude: number, longitude: number): number {
    const vectors = this.#vectors;
    if (bounds.length < vectors.length / 3) {
      bounds = new Float64Array(vectors.length / 3);
      starts = new Float64Array(vectors.length / 3);
    }
    const { x, y, z } = unitVector(latitude, longitude);
    let [edge, least, corner] = [0, 0, 0];
    for (const line of this.#lines) {
      for (let at = 2; at < line.length; at += 2, edge++, corner += 3) {
        const aX = vectors[corner]!;
        const aY = vectors[corner + 1]!;
        const aZ = vectors[corner + 2]!;
        const uX = vectors[corner + 3]! - aX;
        const uY = vectors[corner + 4]! - aY;
        const uZ = vectors[corner + 5]! - aZ;
        const squared = uX * uX + uY * uY + uZ * uZ;
        const along = (x - aX) * uX + (y - aY) * uY + (z - aZ) * uZ;
        const part = along <= 0 ? 0 : along >= squared ? 1 : along / squared;
        const dX = x - aX - part * uX;
        const dY = y - aY - part * uY;
        const dZ = z - aZ - part * uZ;
        const spanDegrees = Math.abs(line[at]! - line[at - 2]!) + Math.abs(line[at + 1]! - line[at - 1]!);
        const span = spanDegrees * RADIANS_PER_DEGREE;
        starts[edge] = part;
        bounds[edge] = Math.sqrt(dX * dX + dY * dY + dZ * dZ) - (span * span) / 8 - ROUNDING;
        if (bounds[edge]! < bounds[least]!) least = edge;
      }
      corner += 3; // The last corner of a line begins no edge.
    }
    return least;
  }
}
