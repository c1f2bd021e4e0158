import type { Line } from "../model/watches/area.ts";
import type { Ring } from "./ring.ts";

/*
 * RFC 7946 cuts what crosses ±180° into polygons on both sides, and what contains a pole along meridians to it. There
 * the area goes on, so these edges are no border.
 */

/** The border of polygons: their rings without the edges along ±180° that two of them share, and those at a pole. */
export function borderOf(rings: readonly Ring[]): readonly Line[] {
  const lines = rings.map(({ line }) => line);
  if (!lines.some((line) => findCut(line, 2) < line.length)) return lines;
  const rest: Line[] = [];
  for (const line of lines) {
    let start = 0;
    for (let at = findCut(line, 2); at < line.length; at = findCut(line, at + 2)) {
      if (at - 2 > start) rest.push(line.subarray(start, at));
      start = at;
    }
    if (line.length - 2 > start) rest.push(line.subarray(start));
  }
  return [...rest, ...bordersOnMeridian(rings).map(([from, to]) => Float64Array.of(180, from, 180, to))];
}

/** The latitudes between which ±180° is a border: an odd number of edges is there, so the area is on one side. */
export function bordersOnMeridian(rings: readonly Ring[]): readonly (readonly [number, number])[] {
  const edges: [number, number][] = [];
  for (const { line } of rings)
    for (let at = findCut(line, 2); at < line.length; at = findCut(line, at + 2)) {
      const [from, to] = [line[at - 1]!, line[at + 1]!];
      if (Math.abs(from) !== 90 || from !== to) edges.push([Math.min(from, to), Math.max(from, to)]);
    }
  const ends = [...new Set(edges.flat())].sort((a, b) => a - b);
  const stretches: [number, number][] = [];
  for (const [index, from] of ends.entries()) {
    const to = ends[index + 1];
    if (to === undefined) continue;
    const count = edges.filter(([low, high]) => low <= from && to <= high).length;
    if (count % 2 === 1) stretches.push([from, to]);
  }
  return stretches;
}

/** Where the next such edge ends; the length of the line if there is none. */
function findCut(line: Line, from: number): number {
  for (let at = from; at < line.length; at += 2) if (isCutEdge(line, at)) return at;
  return line.length;
}

/** Whether the edge that ends at `at` is on the meridian of 180° or at a pole. */
export function isCutEdge(line: Line, at: number): boolean {
  if (Math.abs(line[at + 1]!) === 90 && line[at - 1] === line[at + 1]) return true;
  return line[at] === line[at - 2] && Math.abs(line[at]! % 360) === 180;
}
