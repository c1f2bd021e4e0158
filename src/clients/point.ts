/**
 * A position as a client told it, in our units, before anything of it is checked. A member is left out where the client
 * knows nothing of it, or says so by a sentinel (a negative accuracy, a speed of -1).
 */
export interface ClientPoint extends Claim {
  /** Unix ms; null if the client sent none, NaN if it can't be read, infinite if it is no time that a phone means. */
  readonly timestampMs: number | null;
  /** Whether that is the time of arrival, since the message has nothing that could be a time. */
  readonly isTimedByArrival?: true;
  /** Degrees; null if the client sent none, NaN if they can't be read. */
  readonly latitude: number | null;
  readonly longitude: number | null;
  readonly details: PointDetails;
  /** Texts and flags that the client sent and that can't be read, by field; such numbers are NaN in `details`. */
  readonly unreadable?: readonly string[];
}

/** Whose a point is, as far as its client says. */
export interface Claim {
  /** What the client calls its device and user, if anything; keys and paths may know better. */
  readonly device: string | null;
  readonly user: string | null;
  /** Whether the client names its device by something that is no name. */
  readonly isDeviceUnreadable?: true;
  /** Who has the device now, where that is told beside a device which is not named after them. */
  readonly driver?: string | null;
}

/** Why a value of a point is not in its report. */
export type ValueFault = "absent" | "unreadable" | "out_of_range";

/** Optional fields of a report under their names there (`model/location-fields.ts`). */
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

/** Why something that a client sent could not be used; it is kept in the quarantine under this word. */
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
] as const;

export type RefusalReason = (typeof REFUSAL_REASONS)[number];

/** Where a client's reading puts what it finds in a message. */
export interface MessageSink {
  /** `raw` is a message that holds this point alone and that the same client reads; it is kept where we refuse it. */
  add(point: ClientPoint, raw: unknown): void;
  /**
   * Something that should have been a point; without `raw` it is the whole message. Where it can't be read itself,
   * what came with it may say whose it is.
   */
  refuse(reason: RefusalReason, raw?: unknown, from?: Claim): void;
  /** Something that is no position and need not be kept: an event, a log line, a heartbeat. */
  skip(what: string): void;
}

/** The details that are known, of all that a client could have sent. */
export function knownDetails(
  told: {
    readonly [Name in keyof PointDetails]: PointDetails[Name] | null;
  },
): PointDetails {
  const known: Record<string, unknown> = {};
  for (const [name, value] of Object.entries(told)) if (value !== null) known[name] = value;
  return known as PointDetails;
}
