import { RADIANS_PER_DEGREE } from "../model/geo/distance.ts";
import type { Line } from "../model/watches/area.ts";

/** Longer edges are first looked at in pieces: several of their points may be nearer than the neighbors of each. */
const PIECE_RADIANS = 2 * RADIANS_PER_DEGREE;

/** A step of less than 0.1 mm along an edge of 100 km ends the search. */
const STEP_MIN = 1e-9;

/** Newton's steps take 2 to 4; where they fail, halving reaches `STEP_MIN` in 30. */
const STEPS_MAX = 40;

/**
 * The point of an edge that is nearest to a position along the sphere. Edges are straight in longitudes and latitudes,
 * so there is no formula: Newton's method finds where the derivative of the haversine is 0.
 */
export class NearestOnEdge {
  /* The position; angles are in radians. */
  #latitude = 0;
  #longitude = 0;
  #sinLat = 0;
  #cosLat = 1;
  /* From the position to the beginning of the edge, and from there to its end. */
  #fromLat = 0;
  #fromLon = 0;
  #stepLat = 0;
  #stepLon = 0;
  /** Derivatives of the last haversine by the part of the edge. */
  #slope = 0;
  #curvature = 0;

  /** Takes the position to which the next distances are, in degrees. */
  lookFrom(latitude: number, longitude: number): void {
    this.#latitude = latitude;
    this.#longitude = longitude;
    this.#sinLat = Math.sin(latitude * RADIANS_PER_DEGREE);
    this.#cosLat = Math.cos(latitude * RADIANS_PER_DEGREE);
  }

  /** The haversine of the distance to the edge that ends at `at`; `start` is where on it, from 0 to 1, it may be. */
  haversineTo(line: Line, at: number, start: number): number {
    this.#fromLat = (line[at - 1]! - this.#latitude) * RADIANS_PER_DEGREE;
    this.#fromLon = (line[at - 2]! - this.#longitude) * RADIANS_PER_DEGREE;
    this.#stepLat = (line[at + 1]! - line[at - 1]!) * RADIANS_PER_DEGREE;
    this.#stepLon = (line[at]! - line[at - 2]!) * RADIANS_PER_DEGREE;
    const pieces = Math.ceil((Math.abs(this.#stepLat) + Math.abs(this.#stepLon)) / PIECE_RADIANS);
    if (pieces <= 1) return this.#leastBetween(0, 1, start);
    let nearest = 0;
    let least = Infinity;
    for (let piece = 0; piece <= pieces; piece++) {
      const haversine = this.#haversineAt(piece / pieces);
      if (haversine < least) nearest = piece;
      least = Math.min(least, haversine);
    }
    const [low, high] = [Math.max(0, nearest - 1), Math.min(pieces, nearest + 1)];
    return this.#leastBetween(low / pieces, high / pieces, nearest / pieces);
  }

  /** Keeps what was seen of the slope: down at `low`, up at `high`. Where Newton's step leaves that, it halves it. */
  #leastBetween(from: number, to: number, start: number): number {
    let [low, high, part] = [from - 1, to + 1, start];
    let least = Infinity;
    for (let step = 0; step < STEPS_MAX; step++) {
      least = Math.min(least, this.#haversineAt(part));
      const slope = this.#slope;
      if (slope === 0) break;
      if (slope > 0) high = part;
      else low = part;
      const newton = this.#curvature > 0 ? part - slope / this.#curvature : slope > 0 ? from : to;
      let next = Math.min(to, Math.max(from, newton));
      if (Math.abs(next - part) >= STEP_MIN && (next <= low || next >= high))
        next = (Math.max(low, from) + Math.min(high, to)) / 2;
      if (Math.abs(next - part) < STEP_MIN) break;
      part = next;
    }
    return least;
  }

  /** Also finds its derivatives there. */
  #haversineAt(part: number): number {
    const lat = this.#fromLat + part * this.#stepLat;
    const lon = this.#fromLon + part * this.#stepLon;
    const sinHalfLat = Math.sin(lat / 2);
    const sinHalfLon = Math.sin(lon / 2);
    const sinLat = 2 * sinHalfLat * Math.cos(lat / 2);
    const sinLon = 2 * sinHalfLon * Math.cos(lon / 2);
    const haversineLat = sinHalfLat * sinHalfLat;
    const haversineLon = sinHalfLon * sinHalfLon;
    // The sine and the cosine of the latitude there, and of the longitude's step.
    const cosStep = 1 - 2 * haversineLat;
    const sinThere = this.#sinLat * cosStep + this.#cosLat * sinLat;
    const cosThere = this.#cosLat * cosStep - this.#sinLat * sinLat;
    const dLat = this.#stepLat;
    const dLon = this.#stepLon;
    this.#slope =
      (sinLat * dLat) / 2 + this.#cosLat * ((cosThere * sinLon * dLon) / 2 - sinThere * haversineLon * dLat);
    const bend = ((1 - 2 * haversineLon) * dLon * dLon) / 2 - haversineLon * dLat * dLat;
    this.#curvature =
      (cosStep * dLat * dLat) / 2 + this.#cosLat * (cosThere * bend - sinThere * sinLon * dLat * dLon);
    return haversineLat + this.#cosLat * cosThere * haversineLon;
  }
}
