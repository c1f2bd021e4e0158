import { THINNED_VERTICES_MAX, thinLine } from "../../../model/geo/thin-line.ts";
import { copyUnitVector, squaredChordAt } from "../../../model/geo/unit-vector.ts";
import type { PointColumns, Vertices } from "./vertices.ts";

/**
 * Consecutive vertices of a line that are simplified together. Distances are to the chord between two vertices, not to
 * the great circle above it: so no segment becomes so long that it matters whether a map draws it as a great circle or
 * straight in its projection.
 */
export class TrackPiece implements PointColumns {
  count = 0;
  readonly timestampMs = new Float64Array(THINNED_VERTICES_MAX);
  readonly latitude = new Float64Array(THINNED_VERTICES_MAX);
  readonly longitude = new Float64Array(THINNED_VERTICES_MAX);
  readonly vectors = new Float64Array(3 * THINNED_VERTICES_MAX);
  readonly #stays = new Uint8Array(THINNED_VERTICES_MAX);

  get isFull(): boolean {
    return this.count === THINNED_VERTICES_MAX;
  }

  add(from: PointColumns, index: number): void {
    this.#put(this.count++, from, index);
  }

  /** The squared distance from the last vertex. */
  squaredChordTo(vectors: Float64Array, index: number): number {
    return squaredChordAt(this.vectors, this.count - 1, vectors, index);
  }

  /**
   * Adds to `out` the vertices that keep the line within the chord, except the last one, with which the piece
   * continues.
   */
  simplify(chord: number, out: Vertices): void {
    const last = this.count - 1;
    if (chord === 0)
      this.#stays.fill(1); // Vertices on the line stay, too.
    else thinLine(this.vectors, last, { squaredMax: chord * chord, followsGlobe: false }, this.#stays);
    for (let row = 0; row < last; row++) if (this.#stays[row] === 1) out.add(this, row);
    this.#put(0, this, last);
    this.count = 1;
  }

  /** Like `simplify`, but ends the line and adds the last vertex too. */
  close(chord: number, out: Vertices): void {
    this.simplify(chord, out);
    out.add(this, 0);
    this.count = 0;
  }

  #put(at: number, { timestampMs, latitude, longitude, vectors }: PointColumns, index: number): void {
    this.timestampMs[at] = timestampMs[index]!;
    this.latitude[at] = latitude[index]!;
    this.longitude[at] = longitude[index]!;
    copyUnitVector(vectors, index, this.vectors, at);
  }
}
