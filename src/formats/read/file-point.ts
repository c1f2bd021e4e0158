import type { PointDetails } from "../../clients/point.ts";

/**
 * A position as a file tells it, in our units, before anything of it is checked. A detail is left out where the file
 * knows nothing of it, or says so by a sentinel.
 */
export interface FilePoint {
  /** Unix ms; null where the file has none, NaN where it has one that can't be read, infinite beyond all times. */
  readonly timestampMs: number | null;
  /** Degrees, null and NaN likewise. */
  readonly latitude: number | null;
  readonly longitude: number | null;
  /** What the file calls the device and the user, if anything; the operator may know better. */
  readonly device: string | null;
  readonly user: string | null;
  /** A number that is there and can't be read is NaN. */
  readonly details: FileDetails;
  /** Names of other details that are there and can't be read. */
  readonly unreadable?: readonly string[] | undefined;
  /** Whether this program wrote it. What others write at 0/0 knows no position, but a record may lie there. */
  readonly isRecord?: boolean;
}

/** Optional fields of a report under their names there: what clients tell, and what only our own exports do. */
export interface FileDetails extends PointDetails {
  location_permission?: boolean;
  tz_offset?: string;
  brand?: string;
  model?: string;
  os_version?: string;
  sdk_version?: string;
  app_version_name?: string;
}

/** Where the reading of a file puts what it finds, in the file's order. */
export interface PointSink {
  /** Whether it can be used, and whether it is wanted, is judged here. */
  add(point: FilePoint): void;
  /** Something in the file that is no position that could be used, and why. */
  skip(reason: SkipReason): void;
  /** Something that was done to the next point which its owner should hear of; a skip instead of it takes it back. */
  note(remark: Remark): void;
}

/** Why something in a file did not become a report, and what people read of it. */
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
  untimed_line: "lines without times, which whoever wrote the file left out",
  no_location: "that are no positions",
} as const;

export type SkipReason = keyof typeof SKIP_REASONS;

/** What is said of points that were taken, and what people read of it. */
export const REMARKS = {
  leap_second: "in a leap second, which Unix time lacks, taken as the last millisecond before",
  spread: "spread over the minute that is all their file tells",
  repeated_hour: "in the hour that a clock change repeats, taken as the first",
  skipped_hour: "in the hour that a clock change leaves out, moved forward",
  lower_cased:
    "of a device as the Recorder spells it, in lower case: where its phone doesn't, --device says the name",
  wrong_checksum: "of files whose checksum is wrong, so that they may be damaged",
  suspicious_time: "with the time of a receiver whose week number has rolled over",
} as const;

export type Remark = keyof typeof REMARKS;
