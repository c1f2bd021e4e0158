/**
 * A position as a client sent it, in this project's units, before any check. A member is absent if the client doesn't
 * know it, or says so by a sentinel (a negative accuracy, a speed of -1).
 */
export interface ClientPoint extends Claim {
  /** Unix ms; null if the client sent none, NaN if it can't be read, infinite if no phone can mean that time. */
  readonly timestampMs: number | null;
  /** Whether that is the time of arrival, because the message has nothing that could be a time. */
  readonly isTimedByArrival?: true;
  /** Degrees; null if the client sent none, NaN if they can't be read. */
  readonly latitude: number | null;
  readonly longitude: number | null;
  readonly details: PointDetails;
  /** Fields of texts and flags that the client sent but that can't be read; such numbers are NaN in `details`. */
  readonly unreadable?: readonly string[];
}

export interface Claim {
  /** The client's names; the key's binding and the URL take precedence. */
  readonly device: string | null;
  readonly user: string | null;
  /** Whether the client sent something as the device's name that is not a name. */
  readonly isDeviceUnreadable?: true;
  /** The person who has the device now, for devices that are not named after a person. */
  readonly driver?: string | null;
}

/** Why a report lacks a value of the point. */
export type ValueFault = "absent" | "unreadable" | "out_of_range";

/** Optional fields of a report, with the names of `model/location-fields.ts`. */
export interface PointDetails {
  /** Meters. */
  horizontal_accuracy?: number;
  vertical_accuracy?: number;
  altitude?: number;
  /** Meters per second. */
  speed?: number;
  /** Degrees clockwise from true north. */
  bearing?: number;
  /** Percent. */
  battery_level?: number;
  battery_status?: string;
  network_status?: boolean;
  type?: string;
  tracking_mode?: string;
  is_mock?: boolean;
  os?: string;
  app_version_code?: string;
}

/** Why a message could not be used. The quarantine stores it under this word. */
export const REFUSAL_REASONS = [
  "bad_json",
  "unknown_shape",
  "no_position",
  "bad_coordinates",
  "null_island",
  "no_time",
  "future",
  "too_old",
  "bad_device",
  "undecryptable",
  "erased",
] as const;

export type RefusalReason = (typeof REFUSAL_REASONS)[number];

export interface MessageSink {
  /** `raw` is a message with only this point that the same client reads; it is stored if the point is refused. */
  add(point: ClientPoint, raw: unknown): void;
  /**
   * Refuses something that should have been a point; without `raw` it is the whole message. `from` names its sender as
   * far as that is known, even if the message can't be read.
   */
  refuse(reason: RefusalReason, raw?: unknown, from?: Claim): void;
  /** Counts something that is not a position and is not stored: an event, a log line, a heartbeat. */
  skip(what: string): void;
}

export function knownDetails(
  details: {
    readonly [Name in keyof PointDetails]: PointDetails[Name] | null;
  },
): PointDetails {
  const known: Record<string, unknown> = {};
  for (const [name, value] of Object.entries(details)) if (value !== null) known[name] = value;
  return known as PointDetails;
}
