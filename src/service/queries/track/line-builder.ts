import { assert } from "../../../lib/assert.ts";
import type { Steps } from "../../../lib/schedule/steps.ts";
import { EARTH_RADIUS_METERS } from "../../../model/geo/distance.ts";
import { squaredChordAt } from "../../../model/geo/unit-vector.ts";
import type { PositionBlock, PositionReading } from "../positions.ts";
import { TrackPiece } from "./piece.ts";
import { type PointOptions, Points } from "./points.ts";
import { Vertices } from "./vertices.ts";

/** Builds lines with few vertices from a device's records. */

/** The lines of a range of records. */
export interface Line {
  readonly vertices: Vertices;
  /** Records of the range; consecutive ones that are blurred to one position count once. */
  readonly total: number;
  /** No record is further from the line than this. */
  readonly toleranceMeters: number;
}

export interface LineOptions extends PointOptions {
  readonly toleranceMeters: number;
  readonly verticesMax: number;
}

/**
 * The part of the tolerance within which points are dropped immediately, as most points of a stationary device are; the
 * rest is for the simplification of the remaining ones, so that both together stay within the tolerance.
 */
const NEAR_PART = 1 / 8;
/** Vertices of finished pieces that are simplified in one step. */
const STEP_VERTICES = 1024;

/**
 * Lines through a device's records, simplified as the records arrive. Memory is bounded by the most vertices allowed:
 * if there are more, the tolerance doubles, and the existing lines become coarser.
 */
export class LineBuilder implements PositionReading<Line> {
  readonly #verticesMax: number;
  readonly #points: Points;
  readonly #piece = new TrackPiece();
  #vertices = new Vertices();
  #toleranceMeters: number;
  #total = 0;
  /** Whether the piece begins a line. */
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

  /** Adds points from an index on, as many as it has time for; returns the first remaining one. */
  #take(from: number, last: number): number {
    const points = this.#points;
    const piece = this.#piece;
    const near = NEAR_PART * chordOf(this.#toleranceMeters);
    const squaredNear = near * near;
    let visited = 0;
    for (let i = from; i <= last; i++) {
      // Too many vertices are simplified immediately: lines must not depend on how records come in blocks.
      if (visited >= STEP_VERTICES || this.#vertices.count > this.#verticesMax) return i;
      if (points.joined[i] === 0) {
        visited += piece.count;
        this.#close(i - 1);
        if (points.isShown(i)) this.#begin(i);
        continue;
      }
      if (piece.count === 0) this.#begin(i - 1);
      this.#isTaken = squaredNear === 0 || piece.squaredChordTo(points.vectors, i) > squaredNear;
      if (!this.#isTaken) continue;
      piece.add(points, i);
      if (!piece.isFull) continue;
      visited += piece.count;
      this.#simplify();
    }
    return last + 1;
  }

  #begin(i: number): void {
    this.#piece.add(this.#points, i);
    this.#isTaken = true;
    this.#isFirst = true;
  }

  /** Ends the open line, if there is one, at its last point. */
  #close(i: number): void {
    if (this.#piece.count === 0) return;
    if (!this.#isTaken) this.#piece.add(this.#points, i);
    this.#startIfFirst();
    this.#piece.close(this.#pieceChord, this.#vertices);
  }

  #simplify(): void {
    this.#startIfFirst();
    this.#piece.simplify(this.#pieceChord, this.#vertices);
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
      // The tolerances of two simplifications add up.
      const more = chordOf(toleranceMeters) - chordOf(this.#toleranceMeters);
      this.#vertices = yield* coarsen(this.#vertices, more, this.#verticesMax);
      this.#toleranceMeters = toleranceMeters;
    }
  }
}

/**
 * The distance from a chord through the earth, in earth radii, within which points are no further than this many meters
 * from the great circle above the chord.
 */
function chordOf(meters: number): number {
  const radians = meters / EARTH_RADIUS_METERS;
  if (radians >= Math.PI) return radians; // The whole earth is within the distance.
  return radians >= Math.PI / 2 ? 1 : Math.sin(radians);
}

/**
 * Simplifies lines by a chord. Ends of lines stay, unless these alone are too many: then lines are dropped that lie
 * within the chord of the vertex before them. The first and the last vertex always stay.
 */
function* coarsen(lines: Vertices, chord: number, verticesMax: number): Steps<Vertices> {
  const { starts } = lines;
  const isCrowded = 2 * starts.length > verticesMax;
  const coarser = new Vertices();
  const piece = new TrackPiece();
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
      piece.simplify(chord, coarser);
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

/** Whether all of a line lies within the chord of the last remaining vertex. */
function isNear(lines: Vertices, from: number, to: number, coarser: Vertices, chord: number): boolean {
  for (let row = from; row < to; row++)
    if (squaredChordAt(lines.vectors, row, coarser.vectors, coarser.count - 1) > chord * chord) return false;
  return true;
}
