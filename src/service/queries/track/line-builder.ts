import { assert } from "../../../lib/assert.ts";
import type { Steps } from "../../../lib/schedule/steps.ts";
import { EARTH_RADIUS_METERS } from "../../../model/geo/distance.ts";
import { squaredChordAt } from "../../../model/geo/unit-vector.ts";
import type { PositionBlock, PositionReading } from "../positions.ts";
import { Piece } from "./piece.ts";
import { type PointOptions, Points } from "./points.ts";
import { Vertices } from "./vertices.ts";

/** Makes lines with few vertices of a device's records. */

/** What is drawn of a range of records. */
export interface Line {
  readonly vertices: Vertices;
  /** Records of the range; those that are blurred to one position one after the other are one. */
  readonly total: number;
  /** No record is further from the line than this. */
  readonly toleranceMeters: number;
}

export interface LineOptions extends PointOptions {
  readonly toleranceMeters: number;
  readonly verticesMax: number;
}

/**
 * Of the tolerance, the part within which points are left out at once, as most are of a device that stands; the rest is
 * for those that are left out of what stays, so that both together keep within it.
 */
const NEAR_PART = 1 / 8;
/** How many vertices of lines that end are simplified in a step. */
const STEP_VERTICES = 1024;

/**
 * Lines through a device's records, simplified as the records come, in memory for as many vertices as there may be and
 * no more: if there are too many the tolerance doubles, and what there is becomes coarser.
 */
export class LineBuilder implements PositionReading<Line> {
  readonly #verticesMax: number;
  readonly #points: Points;
  readonly #piece = new Piece();
  #vertices = new Vertices();
  #toleranceMeters: number;
  #total = 0;
  /** Whether the piece is the beginning of a line. */
  #isFirst = false;
  /** Whether the last point is the last vertex of the piece. */
  #isTaken = false;

  constructor(options: LineOptions) {
    const { toleranceMeters, verticesMax } = options;
    assert(verticesMax >= 4, "the first line and the last have their ends");
    this.#toleranceMeters = toleranceMeters;
    this.#verticesMax = verticesMax;
    this.#points = new Points(options);
  }

  add(block: PositionBlock): void {
    this.#points.load(block);
    this.#total += this.#points.count;
  }

  *work(): Steps<void> {
    const { count } = this.#points;
    for (let next = 1; next <= count; ) {
      next = this.#take(next, count);
      if (this.#vertices.count > this.#verticesMax) yield* this.#coarsen();
      yield;
    }
  }

  *end(): Steps<Line> {
    this.#close(this.#points.count);
    yield* this.#coarsen();
    return { vertices: this.#vertices, total: this.#total, toleranceMeters: this.#toleranceMeters };
  }

  /** Takes points from an index on, as many as it has time for; returns the first that it left. */
  #take(from: number, last: number): number {
    const points = this.#points;
    const piece = this.#piece;
    const near = NEAR_PART * chordOf(this.#toleranceMeters);
    const squaredNear = near * near;
    let settled = 0;
    for (let i = from; i <= last; i++) {
      // At once if there are too many: a line must not depend on how its records came in blocks.
      if (settled >= STEP_VERTICES || this.#vertices.count > this.#verticesMax) return i;
      if (points.joined[i] === 0) {
        settled += piece.count;
        this.#close(i - 1);
        if (points.isShown(i)) this.#begin(i);
        continue;
      }
      if (piece.count === 0) this.#begin(i - 1);
      this.#isTaken = squaredNear === 0 || piece.squaredChordTo(points.vectors, i) > squaredNear;
      if (!this.#isTaken) continue;
      piece.add(points, i);
      if (!piece.isFull) continue;
      settled += piece.count;
      this.#settle();
    }
    return last + 1;
  }

  #begin(i: number): void {
    this.#piece.add(this.#points, i);
    this.#isTaken = true;
    this.#isFirst = true;
  }

  /** Ends the line, if there is one, at a point that is the last of it. */
  #close(i: number): void {
    if (this.#piece.count === 0) return;
    if (!this.#isTaken) this.#piece.add(this.#points, i);
    this.#startIfFirst();
    this.#piece.close(this.#pieceChord, this.#vertices);
  }

  #settle(): void {
    this.#startIfFirst();
    this.#piece.settle(this.#pieceChord, this.#vertices);
  }

  #startIfFirst(): void {
    if (this.#isFirst) this.#vertices.startLine();
    this.#isFirst = false;
  }

  get #pieceChord(): number {
    return (1 - NEAR_PART) * chordOf(this.#toleranceMeters);
  }

  *#coarsen(): Steps<void> {
    while (this.#vertices.count > this.#verticesMax) {
      const toleranceMeters = Math.max(1, 2 * this.#toleranceMeters);
      // What is as near as that to lines that are as near as before is as near as both together.
      const more = chordOf(toleranceMeters) - chordOf(this.#toleranceMeters);
      this.#vertices = yield* coarsen(this.#vertices, more, this.#verticesMax);
      this.#toleranceMeters = toleranceMeters;
    }
  }
}

/**
 * How far points may lie from a chord, through the earth and in its radii, to lie no further than this many meters from
 * the great circle above it.
 */
function chordOf(meters: number): number {
  const radians = meters / EARTH_RADIUS_METERS;
  if (radians >= Math.PI) return radians; // All of the earth is that near.
  return radians >= Math.PI / 2 ? 1 : Math.sin(radians);
}

/**
 * Lines with fewer vertices, none of those that go further than a chord from what stays. Ends of lines stay,
 * unless these alone would be too many: then lines go of which all is that near to the vertex that
 * stays before them. The first and the last vertex always stay.
 */
function* coarsen(lines: Vertices, chord: number, verticesMax: number): Steps<Vertices> {
  const { starts } = lines;
  const isCrowded = 2 * starts.length > verticesMax;
  const coarser = new Vertices();
  const piece = new Piece();
  let work = 0;
  for (let line = 0; line < starts.length; line++) {
    const from = starts[line]!;
    const isLast = line === starts.length - 1;
    const to = isLast ? lines.count : starts[line + 1]!;
    if (isCrowded && line > 0 && !isLast && isNear(lines, from, to, coarser, chord)) continue;
    coarser.startLine();
    for (let row = from; row < to; row++) {
      piece.add(lines, row);
      if (!piece.isFull) continue;
      piece.settle(chord, coarser);
      yield;
    }
    work += piece.count;
    piece.close(chord, coarser);
    if (work < STEP_VERTICES) continue;
    work = 0;
    yield;
  }
  return coarser;
}

/** Whether all of a line lies around the last vertex that stayed. */
function isNear(lines: Vertices, from: number, to: number, coarser: Vertices, chord: number): boolean {
  for (let row = from; row < to; row++)
    if (squaredChordAt(lines.vectors, row, coarser.vectors, coarser.count - 1) > chord * chord) return false;
  return true;
}
