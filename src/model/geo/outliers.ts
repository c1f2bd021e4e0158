import { metersBetween, type UnitVector, unitVector } from "./unit-vector.ts";

/*
 * Which positions of a device are probably wrong, in one pass over its positions. `docs/maps.md` has the rule. The
 * result is a suggestion: a person decides.
 */

export const OUTLIER_REASONS = ["jump", "zero_position", "inaccurate"] as const;
export type OutlierReason = (typeof OUTLIER_REASONS)[number];

export interface Outlier {
  readonly timestampMs: number;
  /** Degrees. */
  readonly latitude: number;
  readonly longitude: number;
  readonly reason: OutlierReason;
  /** The speed of the slower of its two legs, in meters per second; null if it is no jump. */
  readonly speed: number | null;
}

export interface OutlierRule {
  /** Legs above this speed, in meters per second, are suspicious. */
  readonly speedMax: number;
  /** Positions with a greater `horizontal_accuracy` are outliers; null if all are accurate enough. */
  readonly accuracyMetersMax: number | null;
}

/** The usual speed limit in meters per second, for all devices that are not much faster. */
export const USUAL_SPEED_MAX = 70;
/** A device's own limit is this many times the speed that it rarely exceeds. */
const SPEED_FACTOR = 5;
/** The part of its positions at which a device is not faster than that. */
const SPEED_QUANTILE = 0.99;

/** As many timestamps as one correction can name. This also limits memory and the size of an answer. */
export const OUTLIERS_MAX = 1000;

export interface Outliers {
  /** The oldest ones, oldest first. */
  readonly outliers: readonly Outlier[];
  readonly total: number;
  /** The limit that suits this device: the usual one, or more if it is often fast. */
  readonly speedMaxOfDevice: number;
}

interface Fix extends UnitVector {
  readonly timestampMs: number;
  readonly latitude: number;
  readonly longitude: number;
}

export class OutlierFinder {
  readonly #rule: OutlierRule;
  readonly #speeds = new SpeedCounts();
  #outliers: Outlier[] = [];
  #total = 0;
  /** The last position without a jump before `#last`, and the speed of the leg between them. */
  #before: Fix | null = null;
  #speed = 0;
  /** The last position that can be a neighbor. */
  #last: Fix | null = null;
  /** The last position if it is an outlier by itself. It counts once it has a successor. */
  #flawed: Outlier | null = null;

  constructor(rule: OutlierRule) {
    this.#rule = rule;
  }

  /** Adds the next position of the device. The accuracy is in meters; NaN if it has none. */
  add(timestampMs: number, latitude: number, longitude: number, accuracyMeters: number): void {
    if (this.#flawed !== null) this.#report(this.#flawed);
    const reason = this.#flawOf(latitude, longitude, accuracyMeters);
    this.#flawed = reason === null ? null : { timestampMs, latitude, longitude, reason, speed: null };
    if (reason === null)
      this.#follow({ ...unitVector(latitude, longitude), timestampMs, latitude, longitude });
  }

  end(): Outliers {
    const speedMaxOfDevice = Math.max(USUAL_SPEED_MAX, SPEED_FACTOR * this.#speeds.quantile(SPEED_QUANTILE));
    return { outliers: this.#outliers, total: this.#total, speedMaxOfDevice };
  }

  #flawOf(latitude: number, longitude: number, accuracyMeters: number): OutlierReason | null {
    if (latitude === 0 && longitude === 0) return "zero_position";
    const { accuracyMetersMax } = this.#rule;
    return accuracyMetersMax !== null && accuracyMeters > accuracyMetersMax ? "inaccurate" : null;
  }

  /** Decides about the last position, now that its successor is known. */
  #follow(next: Fix): void {
    const [before, last] = [this.#before, this.#last];
    const leg = last === null ? 0 : speedBetween(last, next);
    this.#last = next;
    if (before !== null && last !== null) {
      const speed = Math.min(this.#speed, leg);
      const straight = speedBetween(before, next);
      this.#speeds.add(Math.min(speed, straight));
      if (speed > this.#rule.speedMax && straight <= this.#rule.speedMax) {
        const { timestampMs, latitude, longitude } = last;
        this.#report({ timestampMs, latitude, longitude, reason: "jump", speed });
        this.#speed = straight; // A jump is no neighbor.
        return;
      }
    }
    this.#before = last;
    this.#speed = leg;
  }

  /** A jump may be older than flawed positions that are known already. */
  #report(outlier: Outlier): void {
    this.#total++;
    const at = 1 + this.#outliers.findLastIndex(({ timestampMs }) => timestampMs < outlier.timestampMs);
    if (at === OUTLIERS_MAX) return;
    this.#outliers.splice(at, 0, outlier);
    if (this.#outliers.length > OUTLIERS_MAX) this.#outliers.pop();
  }
}

function speedBetween(from: Fix, to: Fix): number {
  return (metersBetween(from, to) * 1000) / (to.timestampMs - from.timestampMs);
}

/** Speeds up to this one count as equal: they don't raise a device's limit above the usual one. */
const COUNTED_SPEED_MIN = USUAL_SPEED_MAX / SPEED_FACTOR;
/** Speeds above that one that differ by less than a percent count as equal. */
const SPEED_STEP = Math.log(1.01);
/** Half around the earth in a millisecond is in the last step. */
const SPEED_STEPS = 2120;

/** How often each speed occurred, to within a percent. */
class SpeedCounts {
  readonly #counts = new Float64Array(SPEED_STEPS);
  #total = 0;

  add(speed: number): void {
    this.#total++;
    const step = Math.max(0, Math.ceil(Math.log(speed / COUNTED_SPEED_MIN) / SPEED_STEP));
    this.#counts[Math.min(step, SPEED_STEPS - 1)]!++;
  }

  /** A speed that this part of all speeds doesn't exceed: at most a percent above the least such speed. */
  quantile(part: number): number {
    let rest = part * this.#total;
    let step = 0;
    for (; step < SPEED_STEPS - 1; step++) {
      rest -= this.#counts[step]!;
      if (rest <= 0) break;
    }
    return COUNTED_SPEED_MIN * Math.exp(step * SPEED_STEP);
  }
}
