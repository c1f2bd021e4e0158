import { claimedPlace, type Point } from "../phone/point.ts";
import { doubling, inOrder } from "../rules/in-order.ts";
import { keptUntil2xx } from "../rules/rule.ts";
import type { App } from "./app.ts";
import { brokenJson, knots, queryText, unixSeconds } from "./texts.ts";

/** Traccar Client 10: forms, strictly in order. */

export const traccar10: App = {
  name: "Traccar Client 10",
  rule: inOrder({ judge: keptUntil2xx, pauseMs: doubling(5000, 300_000) }),
  timeoutMs: 15_000,
  queuesInMemory: false,
  wholeSeconds: true,
  oddities: ["future", "null-island", "off-earth", "unreadable", "event"],
  request: (points, { key, device }) => ({
    method: "POST",
    path: `/ingest/traccar/k/${key}`,
    headers: { "Content-Type": "application/x-www-form-urlencoded", "User-Agent": "okhttp/4.12.0" },
    body: bodyOf(points[0]!, device),
  }),
  markOf: (point) => String(unixSeconds(point)),
  deviceIdOf: ({ device }) => device,
};

function bodyOf(point: Point, id: string): string {
  if (point.kind === "unreadable") return brokenJson(point);
  const { accuracyMeters: accuracy, bearingDegrees: bearing, batteryPercent: batt } = point;
  const timestamp = unixSeconds(point);
  if (point.kind === "event") return queryText({ id, timestamp, batt }); // A heartbeat without a fix.
  const { latitude: lat, longitude: lon } = claimedPlace(point);
  const speed = knots(point).toFixed(2);
  return queryText({ id, lat, lon, timestamp, accuracy, altitude: 34, speed, bearing, batt, charge: "true" });
}
