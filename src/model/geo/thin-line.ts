/* Selects the vertices of a line that can be dropped, by the algorithm of Ramer, Douglas and Peucker. */

/** Maximum vertices thinned together. A hostile line makes the algorithm measure each vertex this many times. */
export const THINNED_VERTICES_MAX = 1024;

/** How to thin a line; distances are in radii of the earth. */
export interface Thinning {
  /** A vertex stays if its squared distance is larger. */
  readonly squaredMax: number;
  /** Measures to the great circle between two remaining vertices; otherwise to the straight chord below it. */
  readonly followsGlobe: boolean;
  /** Where to split a stretch whose vertices are all near enough: a vertex after `from`, or `to` for no split. */
  readonly cutBetween?: (from: number, to: number) => number;
}

/** Writes 1 to `stays` for each vertex from 0 to `last` that stays, the ends included, and 0 for the others. */
export function thinLine(vectors: Float64Array, last: number, thinning: Thinning, stays: Uint8Array): void {
  stays.fill(0, 0, last);
  stays[0] = 1;
  stays[last] = 1;
  const stretches = [0, last];
  while (stretches.length > 0) {
    const to = stretches.pop()!;
    const from = stretches.pop()!;
    let corner = farthestBetween(vectors, from, to, thinning);
    if (corner < 0) corner = thinning.cutBetween?.(from, to) ?? to;
    if (corner === to) continue;
    stays[corner] = 1;
    stretches.push(from, corner, corner, to);
  }
}

/** The vertex between two that is farthest from the line between them; -1 if none is too far. */
function farthestBetween(v: Float64Array, from: number, to: number, thinning: Thinning): number {
  const { squaredMax, followsGlobe } = thinning;
  const ax = v[3 * from]!;
  const ay = v[3 * from + 1]!;
  const az = v[3 * from + 2]!;
  // Relative to A: differences between neighbours are exact, and their products with A would not be.
  const ux = v[3 * to]! - ax;
  const uy = v[3 * to + 1]! - ay;
  const uz = v[3 * to + 2]! - az;
  const lengthSquared = ux * ux + uy * uy + uz * uz;
  const perLengthSquared = 1 / lengthSquared;
  // The normal of the great circle's plane.
  const nx = ay * uz - az * uy;
  const ny = az * ux - ax * uz;
  const nz = ax * uy - ay * ux;
  const normalLength = Math.sqrt(nx * nx + ny * ny + nz * nz);
  const hasNoPlane = followsGlobe && normalLength === 0;
  let farthest = -1;
  let farthestSquared = squaredMax;
  for (let at = 3 * from + 3; at < 3 * to; at += 3) {
    const wx = v[at]! - ax;
    const wy = v[at + 1]! - ay;
    const wz = v[at + 2]! - az;
    const squaredToA = wx * wx + wy * wy + wz * wz;
    if (squaredToA <= farthestSquared) continue; // The line begins at A, so it is at least as near.
    const along = wx * ux + wy * uy + wz * uz;
    let squared: number;
    if (along <= 0 || hasNoPlane) squared = squaredToA;
    else if (along >= lengthSquared) squared = (wx - ux) ** 2 + (wy - uy) ** 2 + (wz - uz) ** 2;
    else if (followsGlobe) squared = ((wx * nx + wy * ny + wz * nz) / normalLength) ** 2;
    else {
      const cx = wy * uz - wz * uy;
      const cy = wz * ux - wx * uz;
      const cz = wx * uy - wy * ux;
      squared = (cx * cx + cy * cy + cz * cz) * perLengthSquared;
    }
    if (squared <= farthestSquared) continue;
    farthestSquared = squared;
    farthest = at;
  }
  return farthest < 0 ? -1 : farthest / 3;
}
