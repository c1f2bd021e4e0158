import { copyUnitVector, squaredChord } from "../../geo/unit-vectors.ts";
import type { PointColumns, Vertices } from "./vertices.ts";

/** A piece of a line that is simplified at once. */

/** What a hostile line takes grows with it: each vertex is measured as often as this at worst. */
const PIECE_VERTICES_MAX = 1024;

/**
 * Vertices that follow each other, simplified by the algorithm of Ramer, Douglas and Peucker. Distances are to the
 * chord between two vertices, not to the great circle above it: so no stretch gets so long that it matters whether a
 * map draws it as a great circle or straight in its projection.
 */
export class Piece implements PointColumns {
  count = 0;
  readonly timestampMs = new Float64Array(PIECE_VERTICES_MAX);
  readonly latitude = new Float64Array(PIECE_VERTICES_MAX);
  readonly longitude = new Float64Array(PIECE_VERTICES_MAX);
  readonly vectors = new Float64Array(3 * PIECE_VERTICES_MAX);
  readonly #stays = new Uint8Array(PIECE_VERTICES_MAX);

  get isFull(): boolean {
    return this.count === PIECE_VERTICES_MAX;
  }

  add(from: PointColumns, index: number): void {
    this.#put(this.count++, from, index);
  }

  /** How far a vector is from the last vertex, squared. */
  squaredChordTo(vectors: Float64Array, index: number): number {
    return squaredChord(this.vectors, this.count - 1, vectors, index);
  }

  /**
   * Adds the vertices without which the line would move by more than a chord to `out`, all but the last, with which the
   * piece goes on.
   */
  settle(chord: number, out: Vertices): void {
    const last = this.count - 1;
    this.#thin(last, chord * chord);
    for (let row = 0; row < last; row++) if (this.#stays[row] === 1) out.add(this, row);
    this.#put(0, this, last);
    this.count = 1;
  }

  /** The same for the last piece of a line. */
  close(chord: number, out: Vertices): void {
    this.settle(chord, out);
    out.add(this, 0);
    this.count = 0;
  }

  #put(at: number, { timestampMs, latitude, longitude, vectors }: PointColumns, index: number): void {
    this.timestampMs[at] = timestampMs[index]!;
    this.latitude[at] = latitude[index]!;
    this.longitude[at] = longitude[index]!;
    copyUnitVector(vectors, index, this.vectors, at);
  }

  /** Marks the vertices that stay, of those from 0 to `last`. */
  #thin(last: number, squaredChordMax: number): void {
    const stays = this.#stays;
    if (squaredChordMax === 0) {
      stays.fill(1); // Nothing goes, be it on the line.
      return;
    }
    stays.fill(0, 0, last);
    stays[0] = 1;
    const stretches = [0, last];
    while (stretches.length > 0) {
      const to = stretches.pop()!;
      const from = stretches.pop()!;
      const corner = this.#farthest(from, to, squaredChordMax);
      if (corner < 0) continue;
      stays[corner] = 1;
      stretches.push(from, corner, corner, to);
    }
  }

  /** The vertex between two that is farthest from the chord between them; -1 where none is too far. */
  #farthest(from: number, to: number, squaredChordMax: number): number {
    const v = this.vectors;
    const ax = v[3 * from]!;
    const ay = v[3 * from + 1]!;
    const az = v[3 * from + 2]!;
    const ux = v[3 * to]! - ax;
    const uy = v[3 * to + 1]! - ay;
    const uz = v[3 * to + 2]! - az;
    const lengthSquared = ux * ux + uy * uy + uz * uz;
    const perLengthSquared = 1 / lengthSquared;
    let farthest = -1;
    let farthestSquared = squaredChordMax;
    for (let at = 3 * from + 3; at < 3 * to; at += 3) {
      const wx = v[at]! - ax;
      const wy = v[at + 1]! - ay;
      const wz = v[at + 2]! - az;
      const squaredToA = wx * wx + wy * wy + wz * wz;
      if (squaredToA <= farthestSquared) continue; // So it is to the chord.
      const along = wx * ux + wy * uy + wz * uz;
      let squared: number;
      if (along <= 0) squared = squaredToA;
      else if (along >= lengthSquared) squared = (wx - ux) ** 2 + (wy - uy) ** 2 + (wz - uz) ** 2;
      else {
        const nx = wy * uz - wz * uy;
        const ny = wz * ux - wx * uz;
        const nz = wx * uy - wy * ux;
        squared = (nx * nx + ny * ny + nz * nz) * perLengthSquared;
      }
      if (squared <= farthestSquared) continue;
      farthestSquared = squared;
      farthest = at;
    }
    return farthest < 0 ? -1 : farthest / 3;
  }
}
