import type { MultiPolygon, Polygon, Position } from "geojson";

/*
 * Polygons of a sphere for a flat map. On the sphere a ring may cross ±180° anywhere, and its longitudes jump from one
 * to the other; drawn as they are, the jump is a line through the whole world.
 */

const POLE = 90;

/** The same polygons with rings that go on beyond ±180° where they cross it, and along a pole where they enclose it. */
export function wholePolygons({ coordinates }: MultiPolygon): MultiPolygon {
  return { type: "MultiPolygon", coordinates: coordinates.map((rings) => rings.map(wholeRing)) };
}

/** One of them. */
export function wholePolygon({ coordinates }: Polygon): Polygon {
  return { type: "Polygon", coordinates: coordinates.map(wholeRing) };
}

function wholeRing(ring: readonly Position[]): Position[] {
  const whole: Position[] = [];
  let turns = 0;
  for (const [index, [longitude, latitude]] of ring.entries()) {
    const step = index === 0 ? 0 : longitude! - ring[index - 1]![0]!;
    if (Math.abs(step) > 180) turns -= Math.sign(step);
    whole.push([longitude! + turns * 360, latitude!]);
  }
  return turns === 0 ? whole : closedAtPole(whole);
}

/** It ends a turn from where it began, having gone round a pole: from there along the pole and back. */
function closedAtPole(ring: readonly Position[]): Position[] {
  const first = ring[0]!;
  const last = ring.at(-1)!;
  const pole = first[1]! < 0 ? -POLE : POLE;
  return [...ring, [last[0]!, pole], [first[0]!, pole], first];
}
