import { NUMBER_FIELDS, numberIndex, stateIndex } from "./location-fields.ts";

/*
 * A fix is what a receiver found at an instant: the position, and the fields that describe it (`isOfFix` in the field
 * table). Several reports may be of one instant. A record is never a mixture of two fixes: this is the rule that says
 * which one it has. `archive/overlay-sql.ts` says the same in SQL.
 */

/**
 * How a report's fix is laid over that of a record. `merged`: both have the same position, so what the report carries
 * replaces, but the smaller horizontal accuracy stays. `replaced`: the report's fix takes the place of the record's.
 * `kept`: the record's fix stays as it is.
 */
export type LaidFix = "merged" | "replaced" | "kept";

/**
 * Compares the fix of a record with that of a report which comes later in the log. Of two positions the one with the
 * smaller horizontal accuracy stays, and of equal ones the later. NaN is no accuracy, and worse than any.
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

/** By number field, whether it is of the fix. */
export const IS_OF_FIX: readonly boolean[] = NUMBER_FIELDS.map(({ isOfFix }) => isOfFix === true);

export const LATITUDE = numberIndex("latitude");
export const LONGITUDE = numberIndex("longitude");
export const ACCURACY = numberIndex("horizontal_accuracy");
/** The one member of the state that is of the fix. */
export const MOCK = stateIndex("is_mock");
