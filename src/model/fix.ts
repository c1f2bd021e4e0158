import { NUMBER_FIELDS, numberIndex, stateIndex } from "./location-fields.ts";

/*
 * A fix is the result of a receiver at an instant: the position and the fields that describe it (`isOfFix` in the field
 * table). Several reports may have the same instant. A record never mixes two fixes; this rule decides which one it
 * has. `archive/overlay-sql.ts` states the same rule in SQL.
 */

/**
 * How a report's fix combines with a record's. `merged`: the positions are equal, so the report's values win, except
 * that the smaller horizontal accuracy stays. `replaced`: the report's fix wins. `kept`: the record's fix wins.
 */
export type LaidFix = "merged" | "replaced" | "kept";

/**
 * Compares the fix of a record with that of a report which comes later in the log. Of two positions, that with the
 * smaller horizontal accuracy wins; of equal accuracies, the later. NaN means no accuracy and is worse than any.
 */
export function compareFixes(
  latitude: number,
  longitude: number,
  accuracyMeters: number,
  laterLatitude: number,
  laterLongitude: number,
  laterAccuracyMeters: number,
): LaidFix {
  if (laterLatitude === latitude && laterLongitude === longitude) return "merged";
  return isWorse(laterAccuracyMeters, accuracyMeters) ? "kept" : "replaced";
}

/** Whether a horizontal accuracy is worse than another; NaN is worse than any number. */
export function isWorse(accuracyMeters: number, otherMeters: number): boolean {
  return Number.isNaN(accuracyMeters) ? !Number.isNaN(otherMeters) : accuracyMeters > otherMeters;
}

/** For each number field, whether it belongs to the fix. */
export const IS_OF_FIX: readonly boolean[] = NUMBER_FIELDS.map(({ isOfFix }) => isOfFix === true);

export const LATITUDE = numberIndex("latitude");
export const LONGITUDE = numberIndex("longitude");
export const ACCURACY = numberIndex("horizontal_accuracy");
/** The only state member that belongs to the fix. */
export const MOCK = stateIndex("is_mock");
