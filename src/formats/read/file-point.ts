import type { PointDetails } from "../../clients/point.ts";

/** A position from a file, in our units, not validated. A detail is missing if the file lacks it. */
export interface FilePoint {
  /** Unix ms; null if missing, NaN if unreadable, infinite if out of range. */
  readonly timestampMs: number | null;
  /** Degrees; null and NaN as above. */
  readonly latitude: number | null;
  readonly longitude: number | null;
  /** The names in the file; options of the operator may override them. */
  readonly device: string | null;
  readonly user: string | null;
  /** An unreadable number is NaN. */
  readonly details: FileDetails;
  /** Names of other unreadable details. */
  readonly unreadable?: readonly string[] | undefined;
  /** Whether this program wrote it. Others write 0/0 for an unknown position, but a record may lie there. */
  readonly isRecord?: boolean;
}

/** Optional fields of a report, by name: those that clients send, and those that only our own exports have. */
export interface FileDetails extends PointDetails {
  location_permission?: boolean;
  tz_offset?: string;
  brand?: string;
  model?: string;
  os_version?: string;
  sdk_version?: string;
  app_version_name?: string;
}

/** Receives the points of a file, in file order. */
export interface PointSink {
  /** Adds a point. The sink decides whether it is valid and wanted. */
  add(point: FilePoint): void;
  /** Reports something in the file that is not a usable position. */
  skip(reason: SkipReason): void;
  /** Reports a change of the next point that its owner should know of; a skip instead of the point cancels it. */
  note(remark: Remark): void;
}

/** Why something in a file did not become a report, with the text for people. */
export const SKIP_REASONS = {
  no_time: "without time",
  bad_time: "with a time that can't be read",
  early_time: "with a time before March 1973, of a clock that was not set",
  no_position: "without position",
  bad_coordinates: "with bad coordinates",
  null_island: "at 0/0",
  bad_device: "with a device or user name that can't be one",
  too_old: "before the retention",
  future: "in the future",
  out_of_range: "outside --from and --to",
  no_fix: "without a valid fix",
  bad_checksum: "with a wrong checksum",
  unreadable: "that can't be read",
  too_large: "that are too large",
  wrong_width: "with more or fewer cells than the header",
  rejected: "that the server rejected",
  route_point: "of planned routes",
  waypoint: "waypoints",
  derived: "derived from positions that are imported too",
  encrypted: "encrypted",
  untimed_line: "lines without times, which the file's writer left out",
  no_location: "that are no positions",
} as const;

export type SkipReason = keyof typeof SKIP_REASONS;

/** Remarks on imported points, with the text for people. */
export const REMARKS = {
  leap_second: "in a leap second, which Unix time lacks, taken as the last millisecond before",
  spread: "spread over their minute, since the file has no seconds",
  repeated_hour: "in the hour that a clock change repeats, taken as the first",
  skipped_hour: "in the hour that a clock change leaves out, moved forward",
  lower_cased:
    "of a device as the Recorder spells it, in lower case: where its phone doesn't, --device says the name",
  wrong_checksum: "of files whose checksum is wrong, so that they may be damaged",
  suspicious_time: "with the time of a receiver whose week number has rolled over",
} as const;

export type Remark = keyof typeof REMARKS;
