import type { Outcome } from "../phone/connections.ts";
import { claimedPlace, type Point } from "../phone/point.ts";
import { wholeBatches } from "../rules/batches.ts";
import type { Account, App } from "./app.ts";
import { isoTime } from "./texts.ts";

/** Overland on iOS: batches, of which each is deleted only when the server says so in the words it knows. */

const INTERVAL_MS = 30_000;

export const overland: App = {
  name: "Overland",
  rule: wholeBatches({
    pointsMax: 200,
    isDone: saysOk,
    everyMs: INTERVAL_MS,
    pauseMs: () => INTERVAL_MS,
  }),
  timeoutMs: 60_000,
  queuesInMemory: false,
  wholeSeconds: true,
  oddities: ["future", "null-island", "off-earth", "event"],
  request: (points, account) => ({
    method: "POST",
    path: "/ingest/overland",
    headers: {
      "Content-Type": "application/json",
      Authorization: `Bearer ${account.key}`,
      "User-Agent": "Overland/1.3 CFNetwork/1568.100.1 Darwin/24.0.0",
    },
    body: JSON.stringify({
      locations: points.map((point) => featureOf(point, account)),
      ...currentOf(points, account),
    }),
  }),
  markOf: (point) => isoTime(point),
  deviceIdOf: ({ device }) => device,
};

/** 2xx, JSON by its type, and the very word. */
export function saysOk(outcome: Outcome): boolean {
  if (outcome.kind === "failure" || outcome.status < 200 || outcome.status >= 300) return false;
  if (!outcome.headers.get("content-type")?.startsWith("application/json")) return false;
  return (JSON.parse(outcome.body) as { readonly result?: unknown }).result === "ok";
}

/** Where the phone is now, which is queued as well. */
function currentOf(points: readonly Point[], account: Account) {
  const newest = points.findLast(({ kind }) => kind === "good");
  return newest === undefined ? {} : { current: featureOf(newest, account) };
}

function featureOf(point: Point, { device }: Account) {
  const { latitude, longitude } = claimedPlace(point);
  const geometry = { type: "Point", coordinates: [longitude, latitude] };
  return { type: "Feature", geometry, properties: propertiesOf(point, device) };
}

function propertiesOf(point: Point, device_id: string) {
  const { speedMps, bearingDegrees, accuracyMeters, batteryPercent } = point;
  const phone = { device_id, wifi: "home", battery_state: "unplugged", battery_level: batteryPercent / 100 };
  const timestamp = isoTime(point);
  if (point.kind === "event") return { timestamp, action: "visit", departure_date: null, ...phone };
  return {
    timestamp,
    altitude: 34,
    speed: Math.round(speedMps),
    course: bearingDegrees,
    horizontal_accuracy: accuracyMeters,
    vertical_accuracy: 3,
    motion: ["driving"],
    ...phone,
  };
}
