import { claimedPlace } from "../phone/point.ts";
import { fewTries } from "../rules/few-tries.ts";
import type { App } from "./app.ts";
import { isoTime, knots } from "./texts.ts";

/** A Traccar server that forwards what it gets: one try, unless it is told otherwise. */

export const traccarServer: App = {
  name: "Traccar server",
  rule: fewTries([]),
  timeoutMs: 10_000,
  queuesInMemory: true,
  wholeSeconds: false,
  oddities: ["future", "off-earth"],
  request: ([point], { key, device }) => {
    const { bearingDegrees: course, accuracyMeters: accuracy, batteryPercent } = point!;
    const position = {
      attributes: { batteryLevel: batteryPercent, charge: false, motion: true },
      protocol: "osmand",
      fixTime: isoTime(point!, 3).replace("Z", "+00:00"),
      valid: true,
      ...claimedPlace(point!),
      altitude: 34,
      speed: knots(point!),
      course,
      accuracy,
    };
    return {
      method: "POST",
      path: "/ingest/traccar-forward",
      headers: {
        "Content-Type": "application/json",
        Authorization: `Bearer ${key}`,
        "User-Agent": "Jersey/3.1",
      },
      body: JSON.stringify({
        position,
        device: { id: 3, name: "Van 3", uniqueId: device, status: "online" },
      }),
    };
  },
  markOf: (point) => isoTime(point, 3).slice(0, 19),
  deviceIdOf: ({ device }) => device,
};
