import { orient2d } from "robust-predicates";
import { RADIANS_PER_DEGREE } from "../model/geo/distance.ts";
import type { Line } from "../model/watches/area.ts";
import { type Frame, frameOf } from "./frame.ts";

/*
 * Rings in the plane of longitudes and latitudes. Longitudes go on beyond ±180° where a ring crosses that meridian, and
 * a ring around a pole ends a turn away from where it begins. `orient2d` of robust-predicates decides sides exactly;
 * point-in-polygon-hao, which uses it too, takes lists of pairs, of four times the memory.
 */

export interface Ring extends Frame {
  readonly line: Line;
  /** The pole that the ring surrounds: 1 the northern, -1 the southern, 0 none. The frame reaches to it. */
  readonly pole: -1 | 0 | 1;
  /** Whether it encloses a polygon, not a hole. */
  readonly isOuter: boolean;
}

/** Lets longitudes go on beyond ±180°. Returns the line itself if it does not cross that meridian. */
export function unrollLine(line: Line): Line {
  let unrolled = line;
  let turns = 0;
  const goesRound = isBand(line);
  for (let at = 2; at < line.length; at += 2) {
    const step = line[at]! - line[at - 2]!;
    if (Math.abs(step) > 180 && !goesRound) turns += step > 0 ? -1 : 1;
    if (turns === 0) continue;
    if (unrolled === line) unrolled = line.slice();
    unrolled[at] = line[at]! + 360 * turns;
  }
  return unrolled;
}

/** Whether all corners are on the meridian of 180°, so that edges to its other side go all round the earth. */
function isBand(line: Line): boolean {
  for (let at = 0; at < line.length; at += 2) if (Math.abs(line[at]!) !== 180) return false;
  return true;
}

export function createRing(closed: Line, isOuter: boolean): Ring {
  const line = unrollLine(closed);
  const { west, east, minLatitude, maxLatitude } = frameOf([line]);
  const pole = poleOf(line);
  // Members one by one: an object that is spread into another takes more memory, and there are many rings.
  return {
    line,
    pole,
    isOuter,
    west,
    east,
    minLatitude: pole < 0 ? -90 : minLatitude,
    maxLatitude: pole > 0 ? 90 : maxLatitude,
  };
}

/** The pole that an unrolled ring surrounds: the one on whose side the area is smaller. */
function poleOf(line: Line): -1 | 0 | 1 {
  const turn = line.at(-2)! - line[0]!;
  if (turn === 0) return 0;
  return sineIntegral(line) / turn >= 0 ? 1 : -1;
}

/** The area that a ring encloses, in steradians, whichever way it is wound. */
export function ringSteradians({ line, pole }: Ring): number {
  const beside = Math.abs(sineIntegral(line)) * RADIANS_PER_DEGREE;
  return pole === 0 ? beside : 2 * Math.PI - beside;
}

/** The integral of the sine of the latitude over the longitude in degrees. */
function sineIntegral(line: Line): number {
  let sum = 0;
  for (let at = 2; at < line.length; at += 2) {
    const middle = ((line[at - 1]! + line[at + 1]!) / 2) * RADIANS_PER_DEGREE;
    const half = ((line[at + 1]! - line[at - 1]!) / 2) * RADIANS_PER_DEGREE;
    const mean = Math.sin(middle) * (half === 0 ? 1 : Math.sin(half) / half);
    sum += (line[at]! - line[at - 2]!) * mean;
  }
  return sum;
}

/** 1 inside, 0 on the ring, -1 outside: exact, however near to an edge the position is. */
export function sideOfRing(ring: Ring, latitude: number, longitude: number): -1 | 0 | 1 {
  if (latitude < ring.minLatitude || latitude > ring.maxLatitude) return -1;
  let x = longitude;
  while (x - 360 >= ring.west) x -= 360;
  while (x < ring.west) x += 360;
  return x > ring.east ? -1 : sideOfLine(ring, x, latitude);
}

/**
 * Counts the edges north of the position, each with its western end, but not its eastern one. An odd number puts it
 * inside, or an even one if the meridian ends inside, at the pole.
 */
function sideOfLine({ line, pole }: Ring, x: number, y: number): -1 | 0 | 1 {
  let isInside = pole > 0;
  let aX = line[0]!;
  let aY = line[1]!;
  for (let at = 2; at < line.length; at += 2) {
    const bX = line[at]!;
    const bY = line[at + 1]!;
    if (aX > x !== bX > x) {
      if (y < aY && y < bY) isInside = !isInside;
      else if (y <= aY || y <= bY) {
        const turn = orient2d(aX, aY, bX, bY, x, y);
        if (turn === 0) return 0;
        if (turn > 0 === bX > aX) isInside = !isInside;
      }
    } else if (bX === x && (bY === y || (aX === x && aY > y !== bY > y))) return 0;
    aX = bX;
    aY = bY;
  }
  return isInside ? 1 : -1;
}
