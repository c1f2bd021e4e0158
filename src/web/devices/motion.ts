import { METERS_PER_DEGREE, RADIANS_PER_DEGREE } from "../geo/earth.ts";

export type MotionState = "unknown" | "moving" | "stopped";

/** The columns of the table that motion is derived from. */
export interface MotionColumns {
  readonly size: number;
  readonly timestampMs: Float64Array;
  readonly latitude: Float64Array;
  readonly longitude: Float64Array;
  readonly speedMetersPerSecond: Float32Array;
}

/** In m/s. A phone at rest reports smaller speeds. */
const MOVING_SPEED_MIN = 0.7;
/** Fixes of a device at rest are mostly closer to each other. */
const STRAY_METERS_MAX = 50;
/** A device without a speed counts as stopped after this time in one place, which is longer than a red light. */
const STAND_MS_MIN = 120_000;

/**
 * Derives from the reports that this page has received whether devices move, and since when others have been standing.
 * The anchor of a device is its first report from the place where it still is.
 */
export class Motion {
  #anchorLatitude = new Float64Array(0);
  #anchorLongitude = new Float64Array(0);
  #anchorMs = new Float64Array(0);
  /** 1 if the page saw the device arrive at its anchor; otherwise it may have been there longer. */
  #isArrivalSeen = new Uint8Array(0);
  #size = 0;

  /** Begins again with the rows of the columns. */
  begin({ size, latitude, longitude, timestampMs }: MotionColumns): void {
    this.#anchorLatitude = latitude.slice(0, size);
    this.#anchorLongitude = longitude.slice(0, size);
    this.#anchorMs = timestampMs.slice(0, size);
    this.#isArrivalSeen = new Uint8Array(size);
    this.#size = size;
  }

  /** Updates the anchor from the newest report of a row. */
  update(columns: MotionColumns, row: number): void {
    const latitude = columns.latitude[row]!;
    const longitude = columns.longitude[row]!;
    const isNew = row >= this.#size;
    if (isNew) {
      if (row >= this.#anchorMs.length) this.#grow(columns.timestampMs.length);
      this.#size = row + 1;
    } else {
      const anchorLatitude = this.#anchorLatitude[row]!;
      const anchorLongitude = this.#anchorLongitude[row]!;
      if (metersBetween(anchorLatitude, anchorLongitude, latitude, longitude) <= STRAY_METERS_MAX) return;
    }
    this.#anchorLatitude[row] = latitude;
    this.#anchorLongitude[row] = longitude;
    this.#anchorMs[row] = columns.timestampMs[row]!;
    this.#isArrivalSeen[row] = isNew ? 0 : 1;
  }

  /** The state at the newest report. */
  stateOf(columns: MotionColumns, row: number): MotionState {
    const speed = columns.speedMetersPerSecond[row]!;
    if (!Number.isNaN(speed)) return speed >= MOVING_SPEED_MIN ? "moving" : "stopped";
    if (columns.timestampMs[row]! - this.#anchorMs[row]! >= STAND_MS_MIN) return "stopped";
    return this.#isArrivalSeen[row] === 1 ? "moving" : "unknown";
  }

  /** Since when a stopped device has been there; null if the page did not see it arrive. */
  standingSinceMs(row: number): number | null {
    return this.#isArrivalSeen[row] === 1 ? this.#anchorMs[row]! : null;
  }

  #grow(capacity: number): void {
    this.#anchorLatitude = longer(this.#anchorLatitude, capacity);
    this.#anchorLongitude = longer(this.#anchorLongitude, capacity);
    this.#anchorMs = longer(this.#anchorMs, capacity);
    const seen = new Uint8Array(capacity);
    seen.set(this.#isArrivalSeen);
    this.#isArrivalSeen = seen;
  }
}

function longer(numbers: Float64Array, capacity: number): Float64Array<ArrayBuffer> {
  const more = new Float64Array(capacity);
  more.set(numbers);
  return more;
}

/** Measures on a plane, which is accurate enough for the length of a bus. */
function metersBetween(latitudeA: number, longitudeA: number, latitudeB: number, longitudeB: number): number {
  const turn = Math.abs(longitudeB - longitudeA);
  const east = Math.min(turn, 360 - turn) * Math.cos(latitudeA * RADIANS_PER_DEGREE);
  return Math.hypot(latitudeB - latitudeA, east) * METERS_PER_DEGREE;
}
