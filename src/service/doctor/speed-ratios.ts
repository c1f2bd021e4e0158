import { haversineMeters } from "../../model/geo/distance.ts";
import { LastNumbers, NumberColumn, quantile } from "./columns.ts";

const SECONDS_MIN = 2;
const SECONDS_MAX = 120;
const METERS_MIN = 50;
/** A path must be longer than this multiple of the accuracies at its ends. */
const ACCURACIES_MIN = 3;
/** Meters per second. A slower speed is lost in the noise of positions. */
const SPEED_MIN = 2;

const PAIRS = 30;
const HOURS_MIN = 3;
/** Pairs of one hour; so a verdict covers at least three hours, however often a device reports. */
const PAIRS_PER_HOUR_MAX = PAIRS / HOURS_MIN;
const SECONDS_PER_HOUR = 3600;
/** Hours are counted modulo this, because a 32-bit float has no more whole numbers. */
const HOURS = 2 ** 24;

/** The limit for the quartiles' ratio to the median. */
const QUARTILE_MIN = 0.75;
const QUARTILE_MAX = 1.25;

/** A reported position. */
export interface Fix {
  readonly timestampMs: number;
  readonly latitude: number;
  readonly longitude: number;
  /** Meters; NaN if unknown. */
  readonly accuracyMeters: number;
  /** Meters per second in the unit that was assumed; NaN if none was reported. */
  readonly speed: number;
}

/**
 * Ratios of reported speeds to the speeds between positions. Roads bend, so the right unit gives slightly more than 1.
 * A position too close to the reference, in time or in space, is skipped, and the next one is measured from the same
 * reference: a phone that reports each second never moves far enough between two reports.
 */
export class SpeedRatios {
  readonly #logRatio = new LastNumbers(PAIRS);
  readonly #hour = new LastNumbers(PAIRS);
  readonly #fromMs = new NumberColumn();
  readonly #fromLatitude = new NumberColumn();
  readonly #fromLongitude = new NumberColumn();
  readonly #fromAccuracyMeters = new NumberColumn();

  /** Adds a fix that is newer than all before. After a long gap another track begins. */
  note(slot: number, fix: Fix): void {
    const seconds = (fix.timestampMs - this.#fromMs.get(slot)) / 1000;
    if (Math.abs(seconds) > SECONDS_MAX) {
      this.#begin(slot, fix);
      return;
    }
    if (seconds < SECONDS_MIN) return;
    const meters = this.#metersTo(slot, fix);
    const isFar = meters >= METERS_MIN && meters > ACCURACIES_MIN * this.#accuraciesWith(slot, fix);
    const metersPerSecond = meters / seconds;
    // A stationary device is measured from where it starts again; otherwise its stop would count as driving.
    if (isFar || metersPerSecond < SPEED_MIN) this.#begin(slot, fix);
    if (isFar && fix.speed >= SPEED_MIN) this.#push(slot, fix.speed / metersPerSecond, fix.timestampMs);
  }

  /** The median ratio; null if there are too few, or they differ too much. */
  median(slot: number): number | null {
    if (this.#logRatio.count(slot) < PAIRS || new Set(this.#hour.all(slot)).size < HOURS_MIN) return null;
    const logs = this.#logRatio.sorted(slot);
    const median = Math.exp(quantile(logs, 0.5));
    const isSteady =
      Math.exp(quantile(logs, 0.25)) >= QUARTILE_MIN * median &&
      Math.exp(quantile(logs, 0.75)) <= QUARTILE_MAX * median;
    return isSteady ? median : null;
  }

  clear(slot: number): void {
    this.#logRatio.clear(slot);
    this.#hour.clear(slot);
    this.#fromMs.set(slot, Number.NEGATIVE_INFINITY);
  }

  #begin(slot: number, { timestampMs, latitude, longitude, accuracyMeters }: Fix): void {
    this.#fromMs.set(slot, timestampMs);
    this.#fromLatitude.set(slot, latitude);
    this.#fromLongitude.set(slot, longitude);
    this.#fromAccuracyMeters.set(slot, accuracyMeters);
  }

  #metersTo(slot: number, { latitude, longitude }: Fix): number {
    return haversineMeters(this.#fromLatitude.get(slot), this.#fromLongitude.get(slot), latitude, longitude);
  }

  #accuraciesWith(slot: number, { accuracyMeters }: Fix): number {
    const from = this.#fromAccuracyMeters.get(slot);
    return (Number.isNaN(from) ? 0 : from) + (Number.isNaN(accuracyMeters) ? 0 : accuracyMeters);
  }

  #push(slot: number, ratio: number, timestampMs: number): void {
    const hour = Math.floor(timestampMs / 1000 / SECONDS_PER_HOUR) % HOURS;
    let ofThisHour = 0;
    for (const each of this.#hour.all(slot)) if (each === hour) ofThisHour++;
    if (ofThisHour === PAIRS_PER_HOUR_MAX) return;
    this.#logRatio.push(slot, Math.log(ratio));
    this.#hour.push(slot, hour);
  }
}
