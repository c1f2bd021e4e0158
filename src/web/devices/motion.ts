import { METERS_PER_DEGREE, RADIANS_PER_DEGREE } from "../geo/earth.ts";

/** What is known of whether a device moves. */
export type MotionState = "unknown" | "moving" | "stopped";

/** The columns of the table that motion is seen in. */
export interface MotionColumns {
  readonly size: number;
  readonly timestampMs: Float64Array;
  readonly latitude: Float64Array;
  readonly longitude: Float64Array;
  readonly speedMetersPerSecond: Float32Array;
}

/** Slower is standing: what a phone at rest reports as its speed stays below. */
const MOVING_SPEED_MIN = 0.7;
/** A fix at rest strays less than that, mostly. */
const STRAY_METERS_MAX = 50;
/** As long as that in one place, and a device that tells no speed stands: a red light is shorter. */
const STAND_MS_MIN = 120_000;

/**
 * Whether devices move, and since when those that don't have been standing, from the reports that this page has seen.
 * Of each device there is an anchor: the first report of the place where it still is.
 */
export class Motion {
  #anchorLatitude = new Float64Array(0);
  #anchorLongitude = new Float64Array(0);
  #anchorMs = new Float64Array(0);
  /** 1 where the device was seen to come to its anchor; until then it may have been there for long. */
  #isArrivalSeen = new Uint8Array(0);
  #size = 0;

  /** Forgets all, and begins with what the columns have. */
  begin({ size, latitude, longitude, timestampMs }: MotionColumns): void {
    this.#anchorLatitude = latitude.slice(0, size);
    this.#anchorLongitude = longitude.slice(0, size);
    this.#anchorMs = timestampMs.slice(0, size);
    this.#isArrivalSeen = new Uint8Array(size);
    this.#size = size;
  }

  /** Sees the newest report of a row. */
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

  /** As its newest report has it. */
  stateOf(columns: MotionColumns, row: number): MotionState {
    const speed = columns.speedMetersPerSecond[row]!;
    if (!Number.isNaN(speed)) return speed >= MOVING_SPEED_MIN ? "moving" : "stopped";
    if (columns.timestampMs[row]! - this.#anchorMs[row]! >= STAND_MS_MIN) return "stopped";
    return this.#isArrivalSeen[row] === 1 ? "moving" : "unknown";
  }

  /** Since when a device that stands has been there; null where that began before this page saw it. */
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

/** On a plane: good enough for the length of a bus. */
function metersBetween(latitudeA: number, longitudeA: number, latitudeB: number, longitudeB: number): number {
  const turn = Math.abs(longitudeB - longitudeA);
  const east = Math.min(turn, 360 - turn) * Math.cos(latitudeA * RADIANS_PER_DEGREE);
  return Math.hypot(latitudeB - latitudeA, east) * METERS_PER_DEGREE;
}
