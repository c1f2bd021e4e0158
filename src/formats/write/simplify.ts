import { EARTH_RADIUS_METERS } from "../../model/geo/distance.ts";
import { THINNED_VERTICES_MAX, type Thinning, thinLine } from "../../model/geo/thin-line.ts";
import { setUnitVector } from "../../model/geo/unit-vector.ts";
import { numberIndex } from "../../model/location-fields.ts";
import type { RecordColumns } from "../../model/record-columns.ts";
import { RecordRows } from "./record-rows.ts";

const LATITUDE = numberIndex("latitude");
const LONGITUDE = numberIndex("longitude");

/**
 * Thins tracks window by window: a record that goes lies no further than the tolerance from the great circle between
 * its neighbours that stay. Takes records device by device, in order of time. No silence is added: neighbours that were
 * at most a gap apart stay so, because a long straight line with few records would look like a silence.
 */
export class Simplifier {
  readonly #gapMs: number;
  readonly #thinning: Thinning;
  /** The last stretch, from the last row that must stay on. */
  readonly #window = new RecordRows();
  /** Its positions as unit vectors, for which neither poles nor the antimeridian are anything special. */
  readonly #vectors = new Float64Array(3 * THINNED_VERTICES_MAX);
  readonly #stays = new Uint8Array(THINNED_VERTICES_MAX);

  constructor(toleranceMeters: number, gapMs: number) {
    const tolerance = toleranceMeters / EARTH_RADIUS_METERS;
    this.#gapMs = gapMs;
    this.#thinning = {
      squaredMax: tolerance * tolerance,
      followsGlobe: true,
      cutBetween: (from, to) => this.#lastBeforeGap(from, to),
    };
  }

  /** Records that stay, of these and of earlier ones. */
  take(records: RecordColumns): RecordColumns {
    const settled = new RecordRows();
    const window = this.#window;
    for (let row = 0; row < records.count; row++) {
      if (window.count > 0 && !this.#continues(records, row)) this.#close(settled);
      if (window.count === THINNED_VERTICES_MAX) this.#settle(settled);
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
    thinLine(this.#vectors, last, this.#thinning, this.#stays);
    for (let row = 0; row < last; row++) if (this.#stays[row] === 1) settled.addFrom(window, row);
    window.keepOnly(last);
    this.#vectors.copyWithin(0, 3 * last, 3 * last + 3);
  }

  /** The last row that is no further from `from` than a gap. */
  #lastBeforeGap(from: number, to: number): number {
    const { timestampMs } = this.#window;
    let row = to;
    while (timestampMs[row]! - timestampMs[from]! > this.#gapMs) row--;
    return row;
  }

  #setVector(index: number, numbers: readonly Float64Array[], row: number): void {
    setUnitVector(this.#vectors, index, numbers[LATITUDE]![row]!, numbers[LONGITUDE]![row]!);
  }
}
