import { claimedPlace } from "../phone/point.ts";
import { inOrder } from "../rules/in-order.ts";
import { isSuccess, type Judge } from "../rules/rule.ts";
import type { App } from "./app.ts";
import { queryText, unixSeconds } from "./texts.ts";

/** PhoneTrack's logging URL. What its app does after a failure is not known; here it keeps the point. */

const RETRY_MS = 30_000;

const judge: Judge = (outcome) =>
  outcome.kind === "answer" && isSuccess(outcome) && outcome.body.includes('"done":1') ? "taken" : "kept";

export const phonetrack: App = {
  name: "PhoneTrack",
  rule: inOrder({ judge, pauseMs: () => RETRY_MS }),
  timeoutMs: 10_000,
  queuesInMemory: false,
  wholeSeconds: true,
  oddities: ["future", "null-island", "off-earth"],
  request: ([point], { key, device }) => {
    const { latitude: lat, longitude: lon } = claimedPlace(point!);
    const { accuracyMeters: acc, batteryPercent: bat, speedMps: speed, bearingDegrees: bearing } = point!;
    const values = { lat, lon, alt: 34.2, acc, bat, sat: 12, speed, bearing, timestamp: unixSeconds(point!) };
    return {
      method: "GET",
      path: `/ingest/phonetrack/k/${key}/${device}?${queryText(values)}`,
      headers: { "User-Agent": "PhoneTrack" },
      body: null,
    };
  },
  markOf: (point) => String(unixSeconds(point)),
  deviceIdOf: ({ device }) => device,
};
