import { EARTH_RADIUS_METERS } from "../../../geo/distance.ts";
import { setUnitVector } from "../../../geo/unit-vectors.ts";
import { numberIndex } from "../../../model/location-fields.ts";
import type { RecordColumns } from "../../../model/record-columns.ts";
import { RecordRows } from "./record-rows.ts";

/**
 * Positions looked at together; the first and the last of them stay. What a hostile track takes grows with it: each
 * position is measured as often as this at worst.
 */
const WINDOW_ROWS_MAX = 1024;

const LATITUDE = numberIndex("latitude");
const LONGITUDE = numberIndex("longitude");

/**
 * Thins tracks by the algorithm of Ramer, Douglas and Peucker, window by window: whatever is left out lies no further
 * than the tolerance from the great circle between its neighbours that stay. Takes records device by device, in order
 * of time. Silences stay what they are: no two neighbours are further apart than the gap that were not before, or a
 * long straight line would look like one.
 */
export class Simplifier {
  readonly #tolerance: number;
  readonly #gapMs: number;
  /** The last stretch, from the last row that must stay on. */
  readonly #window = new RecordRows();
  /** Its positions as unit vectors, for which neither poles nor the antimeridian are anything special. */
  readonly #vectors = new Float64Array(3 * WINDOW_ROWS_MAX);
  readonly #stays = new Uint8Array(WINDOW_ROWS_MAX);

  constructor(toleranceMeters: number, gapMs: number) {
    this.#tolerance = toleranceMeters / EARTH_RADIUS_METERS;
    this.#gapMs = gapMs;
  }

  /** Records that stay, of these and of earlier ones. */
  take(records: RecordColumns): RecordColumns {
    const settled = new RecordRows();
    const window = this.#window;
    for (let row = 0; row < records.count; row++) {
      if (window.count > 0 && !this.#continues(records, row)) this.#close(settled);
      if (window.count === WINDOW_ROWS_MAX) this.#settle(settled);
      this.#setVector(window.count, records.numbers, row);
      window.add(records, row);
    }
    return settled.columns();
  }

  /** What was not settled; nothing follows. */
  end(): RecordColumns {
    const settled = new RecordRows();
    if (this.#window.count > 0) this.#close(settled);
    return settled.columns();
  }

  /** Whether the row belongs to the stretch of those in the window. */
  #continues({ deviceIds, timestampMs }: RecordColumns, row: number): boolean {
    const window = this.#window;
    const last = window.count - 1;
    const isOfDevice = deviceIds[row] === window.deviceIds[last];
    return isOfDevice && timestampMs[row]! - window.timestampMs[last]! <= this.#gapMs;
  }

  /** Settles all that is in the window, which begins anew. */
  #close(settled: RecordRows): void {
    this.#settle(settled);
    settled.addFrom(this.#window, 0);
    this.#window.clear();
  }

  /** Settles all but the last row, with which the window goes on. */
  #settle(settled: RecordRows): void {
    const window = this.#window;
    const last = window.count - 1;
    this.#thin(last);
    for (let row = 0; row < last; row++) if (this.#stays[row] === 1) settled.addFrom(window, row);
    window.keepOnly(last);
    this.#vectors.copyWithin(0, 3 * last, 3 * last + 3);
  }

  /** Marks the rows that stay, of those from 0 to `last`. */
  #thin(last: number): void {
    const stays = this.#stays.fill(0);
    stays[0] = 1;
    stays[last] = 1;
    const stretches = [0, last];
    while (stretches.length > 0) {
      const to = stretches.pop()!;
      const from = stretches.pop()!;
      const farthest = this.#farthest(from, to);
      const corner = farthest < 0 ? this.#lastBeforeGap(from, to) : farthest;
      if (corner === to) continue;
      stays[corner] = 1;
      stretches.push(from, corner, corner, to);
    }
  }

  /** The last row that is no further from `from` than a gap. */
  #lastBeforeGap(from: number, to: number): number {
    const { timestampMs } = this.#window;
    let row = to;
    while (timestampMs[row]! - timestampMs[from]! > this.#gapMs) row--;
    return row;
  }

  /** The row between two that is farthest from the great circle between them; -1 where none is too far. */
  #farthest(from: number, to: number): number {
    const v = this.#vectors;
    const [ax, ay, az] = [v[3 * from]!, v[3 * from + 1]!, v[3 * from + 2]!];
    // Everything is counted from A: differences of neighbours are exact, where their products with A would not be.
    const [ux, uy, uz] = [v[3 * to]! - ax, v[3 * to + 1]! - ay, v[3 * to + 2]! - az];
    const [nx, ny, nz] = [ay * uz - az * uy, az * ux - ax * uz, ax * uy - ay * ux];
    const lengthSquared = ux * ux + uy * uy + uz * uz;
    const normalLength = Math.sqrt(nx * nx + ny * ny + nz * nz);
    let farthest = -1;
    let farthestSquared = this.#tolerance * this.#tolerance;
    for (let row = from + 1; row < to; row++) {
      const [wx, wy, wz] = [v[3 * row]! - ax, v[3 * row + 1]! - ay, v[3 * row + 2]! - az];
      const along = wx * ux + wy * uy + wz * uz;
      let squared: number;
      if (along <= 0 || normalLength === 0) squared = wx * wx + wy * wy + wz * wz;
      else if (along >= lengthSquared) squared = (wx - ux) ** 2 + (wy - uy) ** 2 + (wz - uz) ** 2;
      else squared = ((wx * nx + wy * ny + wz * nz) / normalLength) ** 2;
      if (squared <= farthestSquared) continue;
      farthestSquared = squared;
      farthest = row;
    }
    return farthest;
  }

  #setVector(index: number, numbers: readonly Float64Array[], row: number): void {
    setUnitVector(this.#vectors, index, numbers[LATITUDE]![row]!, numbers[LONGITUDE]![row]!);
  }
}
