import { grown } from "../../../lib/tables/columns.ts";
import { copyUnitVector } from "../../../model/geo/unit-vector.ts";

/** Vertices of lines in columns, in order of time. */

const CAPACITY_MIN = 256;

/** Points in columns, with unit vectors. */
export interface PointColumns {
  readonly timestampMs: Float64Array;
  readonly latitude: Float64Array;
  readonly longitude: Float64Array;
  readonly vectors: Float64Array;
}

/** The vertices of lines one after the other. */
export class Vertices implements PointColumns {
  count = 0;
  timestampMs = new Float64Array(CAPACITY_MIN);
  latitude = new Float64Array(CAPACITY_MIN);
  longitude = new Float64Array(CAPACITY_MIN);
  vectors = new Float64Array(3 * CAPACITY_MIN);
  /** Indexes of the first vertices of lines. */
  readonly starts: number[] = [];

  /** Makes the next vertex begin a line. */
  startLine(): void {
    this.starts.push(this.count);
  }

  add({ timestampMs, latitude, longitude, vectors }: PointColumns, index: number): void {
    const at = this.count++;
    if (at === this.timestampMs.length) this.#grow();
    this.timestampMs[at] = timestampMs[index]!;
    this.latitude[at] = latitude[index]!;
    this.longitude[at] = longitude[index]!;
    copyUnitVector(vectors, index, this.vectors, at);
  }

  #grow(): void {
    this.timestampMs = grown(this.timestampMs);
    this.latitude = grown(this.latitude);
    this.longitude = grown(this.longitude);
    this.vectors = grown(this.vectors);
  }
}
