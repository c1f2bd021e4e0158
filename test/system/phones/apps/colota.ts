import { claimedPlace, type Point } from "../phone/point.ts";
import { halvedBatches, inParallel } from "../rules/batches.ts";
import type { App } from "./app.ts";
import { saysOk } from "./overland.ts";
import { brokenJson, isoTime, unixSeconds } from "./texts.ts";

/** Colota on Android: ten points at once on its own path, halved batches in Overland's shape. */

const PAUSES_MS = [30_000, 60_000, 300_000, 900_000];
const SYNC_MS = 60_000;

/** One pause after the other; the last for ever. */
const pauseMs = (failures: number) => PAUSES_MS[Math.min(failures, PAUSES_MS.length) - 1]!;

export const colota: App = {
  name: "Colota",
  rule: inParallel(10, pauseMs),
  timeoutMs: 10_000,
  queuesInMemory: false,
  wholeSeconds: true,
  oddities: ["future", "null-island", "off-earth", "unreadable"],
  request: ([point], { key, device }) => ({
    method: "POST",
    path: "/ingest/colota",
    headers: headersOf(key),
    body: bodyOf(point!, device),
  }),
  markOf: (point) => String(unixSeconds(point)),
  deviceIdOf: ({ device }) => device,
};

export const colotaOverland: App = {
  ...colota,
  name: "Colota, Overland mode",
  rule: halvedBatches({ pointsMax: 50, isDone: saysOk, everyMs: SYNC_MS, pauseMs }),
  oddities: ["future", "null-island", "off-earth"],
  request: (points, { key, device }) => ({
    method: "POST",
    path: "/ingest/overland",
    headers: headersOf(key),
    body: JSON.stringify({ locations: points.map(featureOf), device_id: device }),
  }),
  markOf: (point) => isoTime(point),
};

function headersOf(key: string) {
  return {
    "Content-Type": "application/json",
    Authorization: `Bearer ${key}`,
    "User-Agent": "okhttp/4.12.0",
  };
}

function bodyOf(point: Point, device_id: string): string {
  if (point.kind === "unreadable") return brokenJson(point);
  const { latitude: lat, longitude: lon } = claimedPlace(point);
  const { accuracyMeters: acc, speedMps: vel, batteryPercent: batt, bearingDegrees: bear } = point;
  return JSON.stringify({
    lat,
    lon,
    acc,
    alt: 34,
    vel,
    batt,
    bs: 1,
    tst: unixSeconds(point),
    bear,
    device_id,
  });
}

function featureOf(point: Point) {
  const { latitude, longitude } = claimedPlace(point);
  const { speedMps: speed, bearingDegrees: course, accuracyMeters, batteryPercent } = point;
  const battery = { battery_level: batteryPercent / 100, battery_state: "unplugged" };
  return {
    type: "Feature",
    geometry: { type: "Point", coordinates: [longitude, latitude] },
    properties: {
      timestamp: isoTime(point),
      horizontal_accuracy: accuracyMeters,
      altitude: 34,
      speed,
      course,
      ...battery,
    },
  };
}
