/* Answers of the server, as much of them as the page looks at. */

/** The named place that a position is near. */
export interface NearPlace {
  readonly name: string;
  readonly country: string;
  readonly distance_miles: number;
  /** From the place to the position. */
  readonly bearing_degrees: number;
}

/** `GET /api/v1/devices/{id}/locations/current`. */
export interface CurrentAnswer {
  readonly location: CurrentRecord;
}

export interface CurrentRecord {
  readonly timestamp: number;
  readonly latitude: number;
  readonly longitude: number;
  /** Meters per second. */
  readonly speed?: number | undefined;
  readonly bearing?: number | undefined;
  /** Meters. */
  readonly altitude?: number;
  /** Percent. */
  readonly battery_level?: number;
  /** Null where none is within 31 miles. */
  readonly place?: NearPlace | null;
}

/** `GET /api/v1/devices/{id}/track`. */
export interface TrackAnswer {
  readonly total: number;
  /** Where records are missing that an operator knows as lost. */
  readonly incomplete?: true;
  readonly tolerance_meters: number;
  /** Where no line leads to from the position before. */
  readonly gaps: readonly number[];
  readonly timestamp: readonly number[];
  readonly latitude: readonly number[];
  readonly longitude: readonly number[];
}

export type PlottedField = "speed" | "altitude" | "battery_level";

/** `GET /api/v1/devices/{id}/series`; a value is null where no record of its bucket has one. */
export type SeriesAnswer = {
  /** Of the last record of each bucket. */
  readonly timestamp: readonly number[];
} & Readonly<Record<`${PlottedField}_${"min" | "max" | "last"}`, readonly (number | null)[]>>;

/** `GET /api/v1/devices/{id}/stops`. */
export interface StopsAnswer {
  readonly distance_meters: number;
  readonly moving_seconds: number;
  readonly stops: readonly StopAnswer[];
}

export interface StopAnswer {
  readonly start: number;
  readonly end: number;
  readonly latitude: number;
  readonly longitude: number;
  readonly place?: NearPlace | null;
}
