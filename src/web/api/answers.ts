/* The server's answers, as far as the page uses them. */

/** The named place nearest to a position. */
export interface NearPlace {
  readonly name: string;
  readonly country: string;
  readonly distance_miles: number;
  /** The direction from the place to the position. */
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
  /** Null if no place is near. */
  readonly place?: NearPlace | null;
}

/** `GET /api/v1/devices/{id}/track`. */
export interface TrackAnswer {
  readonly total: number;
  /** Present if records are missing that the operator gave up as lost. */
  readonly incomplete?: true;
  readonly tolerance_meters: number;
  /** The places at the first and at the last position, if they were requested. */
  readonly start_place?: NearPlace | null;
  readonly end_place?: NearPlace | null;
  /** Indexes of positions that no line joins with the previous one. */
  readonly gaps: readonly number[];
  readonly timestamp: readonly number[];
  readonly latitude: readonly number[];
  readonly longitude: readonly number[];
}

export type PlottedField = "speed" | "altitude" | "battery_level";

/** `GET /api/v1/devices/{id}/series`; a value is null if no record of its bucket has one. */
export type SeriesAnswer = {
  /** The time of the last record of each bucket. */
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

/** `GET /api/v1/devices/{id}/days`: the days with reports, oldest first. */
export interface DaysAnswer {
  /** Present if records are missing that the operator gave up as lost. */
  readonly incomplete?: true;
  readonly days: readonly {
    readonly date: string;
    readonly reports: number;
    readonly distance_meters: number;
    readonly moving_seconds: number;
    readonly stops: number;
    /** Meters per second. */
    readonly speed_max?: number;
  }[];
}

/** `GET /api/v1/tracks`: lines of all devices, in columns. */
export interface TracksAnswer {
  readonly device_id: readonly string[];
  /** The index of each device's first position. */
  readonly first: readonly number[];
  /** Indexes of positions that no line leads to. */
  readonly gaps: readonly number[];
  readonly timestamp: readonly number[];
  readonly latitude: readonly number[];
  readonly longitude: readonly number[];
}
