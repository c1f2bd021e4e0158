import { claimedMs, claimedPlace } from "../phone/point.ts";
import { tightLoop } from "../rules/tight-loop.ts";
import type { App } from "./app.ts";
import { queryText } from "./texts.ts";

/** OsmAnd's online tracking: one queue in memory, and no pause between tries. */

const BUFFER_MS = 1_800_000;

export const osmand: App = {
  name: "OsmAnd",
  rule: tightLoop(BUFFER_MS),
  timeoutMs: 30_000,
  queuesInMemory: true,
  wholeSeconds: false,
  oddities: ["future", "null-island", "off-earth"],
  request: ([point], { key, device }) => {
    const { latitude, longitude } = claimedPlace(point!);
    const { accuracyMeters: hdop, speedMps: speed, bearingDegrees: bearing } = point!;
    // Degrees are 32-bit floats there.
    const [lat, lon] = [Math.fround(latitude), Math.fround(longitude)];
    const values = { lat, lon, timestamp: claimedMs(point!), hdop, altitude: 34.2, speed, bearing };
    return {
      method: "GET",
      path: `/ingest/osmand/k/${key}/${device}?${queryText(values)}`,
      headers: { "User-Agent": "OsmAnd" },
      body: null,
    };
  },
  markOf: (point) => String(claimedMs(point)),
  deviceIdOf: ({ device }) => device,
};
