import { claimedPlace, type Point } from "../phone/point.ts";
import { fewTries } from "../rules/few-tries.ts";
import type { App } from "./app.ts";
import { brokenJson, isoTime, unixSeconds } from "./texts.ts";

/** Home Assistant's `rest_command`: one try. */

export const homeAssistant: App = {
  name: "Home Assistant",
  rule: fewTries([]),
  timeoutMs: 10_000,
  queuesInMemory: true,
  wholeSeconds: false,
  oddities: ["future", "null-island", "off-earth", "unreadable"],
  request: ([point], { key, device }) => ({
    method: "POST",
    path: "/ingest/homeassistant",
    headers: {
      "Content-Type": "application/json",
      Authorization: `Bearer ${key}`,
      "User-Agent": "HomeAssistant/2026.2.0 aiohttp/3.12.0 Python/3.13",
    },
    body: bodyOf(point!, device),
  }),
  markOf: (point) => (point.kind === "unreadable" ? String(unixSeconds(point)) : localTime(point)),
  deviceIdOf: ({ device }) => device,
};

function bodyOf(point: Point, device_id: string): string {
  if (point.kind === "unreadable") return brokenJson(point);
  const { accuracyMeters: accuracy, speedMps: speed, batteryPercent: level } = point;
  const location = { ...claimedPlace(point), accuracy, altitude: 34.2, speed };
  return JSON.stringify({ device_id, timestamp: localTime(point), location, battery: { level } });
}

const ZONE_MS = 3_600_000;

/** Of a zone an hour east of Greenwich, with microseconds. */
function localTime(point: Point): string {
  const local = isoTime({ ...point, timestampMs: point.timestampMs + ZONE_MS }, 3);
  return `${local.slice(0, 23)}000+01:00`;
}
