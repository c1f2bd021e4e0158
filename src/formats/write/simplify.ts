import { EARTH_RADIUS_METERS } from "../../model/geo/distance.ts";
import { THINNED_VERTICES_MAX, type Thinning, thinLine } from "../../model/geo/thin-line.ts";
import { setUnitVector } from "../../model/geo/unit-vector.ts";
import { numberIndex } from "../../model/location-fields.ts";
import type { RecordColumns } from "../../model/record-columns.ts";
import { RecordRows } from "./record-rows.ts";

const LATITUDE = numberIndex("latitude");
const LONGITUDE = numberIndex("longitude");

/**
 * Thins tracks window by window: a removed record is within the tolerance of the great circle between its remaining
 * neighbours. Records must come device by device, in order of time. Thinning creates no gaps: remaining neighbours stay
 * within `gapMs` if they were, because a long straight line with few records would look like a gap.
 */
export class Simplifier {
  readonly #gapMs: number;
  readonly #thinning: Thinning;
  /** The current stretch, from the last row that stays. */
  readonly #window = new RecordRows();
  /** Its positions as unit vectors, which avoids special cases at poles and the antimeridian. */
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

  /** Returns records that stay, of these and of earlier calls. */
  take(records: RecordColumns): RecordColumns {
    const output = new RecordRows();
    const window = this.#window;
    for (let row = 0; row < records.count; row++) {
      if (window.count > 0 && !this.#continues(records, row)) this.#close(output);
      if (window.count === THINNED_VERTICES_MAX) this.#thin(output);
      this.#setVector(window.count, records.numbers, row);
      window.add(records, row);
    }
    return output.columns();
  }

  /** Returns the remaining records at the end. */
  end(): RecordColumns {
    const output = new RecordRows();
    if (this.#window.count > 0) this.#close(output);
    return output.columns();
  }

  /** Whether the row continues the stretch in the window. */
  #continues({ deviceIds, timestampMs }: RecordColumns, row: number): boolean {
    const window = this.#window;
    const last = window.count - 1;
    const isOfDevice = deviceIds[row] === window.deviceIds[last];
    return isOfDevice && timestampMs[row]! - window.timestampMs[last]! <= this.#gapMs;
  }

  /** Thins the whole window and empties it. */
  #close(output: RecordRows): void {
    this.#thin(output);
    output.addFrom(this.#window, 0);
    this.#window.clear();
  }

  /** Thins the window except its last row, with which the next window begins. */
  #thin(output: RecordRows): void {
    const window = this.#window;
    const last = window.count - 1;
    thinLine(this.#vectors, last, this.#thinning, this.#stays);
    for (let row = 0; row < last; row++) if (this.#stays[row] === 1) output.addFrom(window, row);
    window.keepOnly(last);
    this.#vectors.copyWithin(0, 3 * last, 3 * last + 3);
  }

  /** The last row within a gap after `from`. */
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
