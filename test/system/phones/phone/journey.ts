import type { ReferenceReport } from "../../../reference/records.ts";
import type { Picker } from "../../support/random.ts";
import type { Point, PointKind } from "./point.ts";

/** Where a phone goes: its points, one after the other, along a real track. */
export interface Journey {
  next(): Point;
}

export interface JourneyOptions {
  /** The places of one device, in the order of time. */
  readonly track: readonly ReferenceReport[];
  readonly pick: Picker;
  /** What this phone's app can send besides good points, and how often it does. */
  readonly oddities: readonly PointKind[];
  readonly oddShare: number;
  /** Of the first point. */
  readonly startMs: number;
  /** Whether its times have no milliseconds. */
  readonly wholeSeconds: boolean;
  /** Between points, by the phone's clock; more than a second. */
  readonly stepMs: number;
}

const HUGE_PHOTO_EVERY = 400; // Points, since each is 17 MB.
const FIRST_HUGE_PHOTO = 7;

export function createJourney(options: JourneyOptions): Journey {
  const { track, pick, oddities, oddShare, startMs, stepMs, wholeSeconds } = options;
  const frequent = oddities.filter((kind) => kind !== "huge-photo");
  let number = 0;

  function nextKind(): PointKind {
    const isHugeDue = number % HUGE_PHOTO_EVERY === FIRST_HUGE_PHOTO && oddities.includes("huge-photo");
    if (isHugeDue) return "huge-photo";
    return pick.maybe(oddShare, () => (frequent.length === 0 ? undefined : pick.item(frequent))) ?? "good";
  }

  return {
    next() {
      const { latitude, longitude } = track[number % track.length]!;
      const secondMs = Math.floor((startMs + number * stepMs) / 1000) * 1000;
      const point: Point = {
        number,
        kind: nextKind(),
        timestampMs: secondMs + (wholeSeconds ? 0 : pick.integer(0, 999)),
        latitude: rounded(Number(latitude)),
        longitude: rounded(Number(longitude)),
        // Above a walk and below a train, so that no client takes it for standing still.
        speedMps: pick.decimal(2, 30, 1),
        bearingDegrees: pick.integer(1, 359),
        accuracyMeters: pick.integer(3, 60),
        batteryPercent: pick.integer(5, 100),
      };
      number++;
      return point;
    },
  };
}

/** To about a meter. */
function rounded(degrees: number): number {
  return Math.round(degrees * 1e5) / 1e5;
}
