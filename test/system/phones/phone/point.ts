/** What a simulated phone measured, or sends in a point's place: one thing that it queues and must get rid of. */
export interface Point {
  /** From 0, in the order in which the phone made them. */
  readonly number: number;
  readonly kind: PointKind;
  /** Of the fix, as a right clock has it. No other point of the phone has this second. */
  readonly timestampMs: number;
  readonly latitude: number;
  readonly longitude: number;
  readonly speedMps: number;
  readonly bearingDegrees: number;
  readonly accuracyMeters: number;
  readonly batteryPercent: number;
}

/**
 * `rollover`: a receiver that has lost 1024 weeks. `future`: a clock that is a day ahead. `event`: a message that is
 * no position. `unreadable`: a broken body. `photo`: a good point with some MB beside it. `huge-photo`: with more than
 * any server takes.
 */
export type PointKind =
  | "good"
  | "rollover"
  | "future"
  | "null-island"
  | "off-earth"
  | "unreadable"
  | "event"
  | "photo"
  | "huge-photo";

/** Where a server must have kept it, once it has said that it did. */
export function belongsIn({ kind }: Point): "store" | "quarantine" | "nowhere" {
  switch (kind) {
    case "good":
    case "rollover":
    case "photo":
    case "huge-photo":
      return "store";
    case "future":
    case "null-island":
    case "off-earth":
    case "unreadable":
      return "quarantine";
    case "event":
      return "nowhere";
  }
}

const ROLLOVER_MS = 619_315_200_000;
const AHEAD_MS = 24 * 3_600_000;

/** What the phone takes the time to be. */
export function claimedMs({ kind, timestampMs }: Point): number {
  if (kind === "rollover") return timestampMs - ROLLOVER_MS;
  return kind === "future" ? timestampMs + AHEAD_MS : timestampMs;
}

/** Where the phone takes itself to be, in degrees. */
export function claimedPlace({ kind, latitude, longitude }: Point): { latitude: number; longitude: number } {
  if (kind === "null-island") return { latitude: 0, longitude: 0 };
  return kind === "off-earth" ? { latitude: latitude + 90, longitude } : { latitude, longitude };
}

/** Beyond what servers take, which is 16 MiB. */
const PHOTO_CHARACTERS = { photo: 1_500_000, "huge-photo": 17_500_000 } as const;

/** The photo as base64; null where there is none. */
export function photoOf({ kind, number }: Point): string | null {
  if (kind !== "photo" && kind !== "huge-photo") return null;
  return `/9j/4AAQ${number}${"A".repeat(PHOTO_CHARACTERS[kind])}`;
}
