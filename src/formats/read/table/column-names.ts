import type { SpeedUnit } from "../../../clients/reading/speed.ts";
import { REPORT_FIELDS } from "../../../model/location-fields.ts";

/** The meaning of a column of another program's table, by its name. */
export interface ColumnMeaning {
  /** In lower case. */
  readonly name: string;
  /** The field of a report. */
  readonly field: string;
  /** If two columns have the same field, the lower rank counts. */
  readonly rank: number;
  /** Whether degrees are integers in units of 1e-7. */
  readonly isE7: boolean;
  /** The unit of a speed whose name has one. */
  readonly speedUnit: SpeedUnit | null;
}

/** Column names of other programs, by our field name. The first one in a table counts, so exact times come first. */
export const COLUMN_NAMES: Readonly<Record<string, readonly string[]>> = {
  timestamp: [
    "timestamp_ms",
    "timestampms",
    "fixtime",
    "recorded_at",
    "tst",
    "datetime",
    "time",
    "when",
    "date",
  ],
  latitude: ["lat", "y", "latitudee7", "latitude_e7", "late7", "lat_e7"],
  longitude: ["lon", "lng", "long", "x", "longitudee7", "longitude_e7", "lone7", "lon_e7", "lnge7", "lng_e7"],
  altitude: ["alt", "ele", "elevation", "height"],
  speed: ["speed_mps", "speed_kmh", "speed_kph", "speed_kn", "speed_knots", "speed_mph", "velocity", "vel"],
  bearing: ["course", "heading", "cog", "dir"],
  horizontal_accuracy: ["accuracy", "acc", "precision"],
  vertical_accuracy: ["verticalaccuracy", "vac"],
  battery_level: ["battery", "batt", "bat", "batterylevel"],
  device_id: ["device", "deviceid", "tracker_id", "tid"],
  user_id: ["user"],
};

const SPEED_UNITS: Readonly<Record<string, SpeedUnit>> = {
  speed_mps: "mps",
  speed_kmh: "kmh",
  speed_kph: "kmh",
  speed_kn: "kn",
  speed_knots: "kn",
  speed_mph: "mph",
};

const MEANINGS: ReadonlyMap<string, ColumnMeaning> = new Map(
  REPORT_FIELDS.flatMap(({ name: field }) =>
    [field, ...(COLUMN_NAMES[field] ?? [])].map((name, rank): [string, ColumnMeaning] => [
      name,
      { name, field, rank, isE7: name.endsWith("e7"), speedUnit: SPEED_UNITS[name] ?? null },
    ]),
  ),
);

/** The meaning of a column name; null if unknown. Case and surrounding blanks don't matter. */
export function findMeaning(name: string): ColumnMeaning | null {
  return MEANINGS.get(normalName(name)) ?? null;
}

export function normalName(name: string): string {
  return name.trim().toLowerCase();
}
