import { claimedPlace, type Point } from "../phone/point.ts";
import { inOrder } from "../rules/in-order.ts";
import { keptUntil2xx } from "../rules/rule.ts";
import type { App } from "./app.ts";
import { brokenJson, isoTime, unixSeconds } from "./texts.ts";

/** Traccar Client 9: JSON of its location library, kept in a database and tried again with the next event. */

const HEARTBEAT_MS = 60_000;

export const traccar9: App = {
  name: "Traccar Client 9",
  rule: inOrder({ judge: keptUntil2xx, pauseMs: () => HEARTBEAT_MS, wakes: true }),
  timeoutMs: 60_000,
  queuesInMemory: false,
  wholeSeconds: false,
  oddities: ["future", "null-island", "off-earth", "unreadable"],
  request: (points, { key, device }) => ({
    method: "POST",
    path: `/ingest/traccar/k/${key}`,
    headers: { "Content-Type": "application/json", "User-Agent": "okhttp/4.12.0" },
    body: bodyOf(points[0]!, device),
  }),
  markOf: (point) => (point.kind === "unreadable" ? String(unixSeconds(point)) : isoTime(point, 3)),
  deviceIdOf: ({ device }) => device,
};

function bodyOf(point: Point, device_id: string): string {
  if (point.kind === "unreadable") return brokenJson(point);
  const { speedMps: speed, bearingDegrees: heading, accuracyMeters: accuracy, batteryPercent } = point;
  const location = {
    timestamp: isoTime(point, 3),
    coords: { ...claimedPlace(point), accuracy, speed, heading, altitude: 34.2 },
    is_moving: true,
    odometer: 120_344.5,
    event: "",
    battery: { level: batteryPercent / 100, is_charging: false },
    activity: { type: "in_vehicle" },
    extras: {},
  };
  return JSON.stringify({ location, device_id });
}
