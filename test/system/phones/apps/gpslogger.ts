import { claimedPlace, type Point } from "../phone/point.ts";
import { fewTries, wholeFile } from "../rules/few-tries.ts";
import type { Account, App } from "./app.ts";
import { isoTime, knots, queryText, unixSeconds } from "./texts.ts";

/** GPSLogger on Android: a few tries a point, over a custom URL or as OpenGTS; or its whole file, again and again. */

const PAUSES_MS = [10_000, 20_000, 40_000];
const FILE_EVERY_MS = 300_000;
const FILE_ROWS = 40;

export const gpslogger: App = {
  name: "GPSLogger",
  rule: fewTries(PAUSES_MS),
  timeoutMs: 10_000,
  queuesInMemory: false,
  wholeSeconds: true,
  oddities: ["rollover", "future", "null-island", "off-earth"],
  request: ([point], { key, device }) => ({
    method: "GET",
    path: `/ingest/gpslogger?${queryText(allParameters(point!, device))}`,
    headers: { Authorization: `Bearer ${key}`, "User-Agent": "okhttp/4.12.0" },
    body: null,
  }),
  markOf: (point) => String(unixSeconds(point)),
  deviceIdOf: ({ device }) => device,
};

export const gpsloggerFile: App = {
  ...gpslogger,
  name: "GPSLogger, whole file",
  rule: wholeFile(FILE_EVERY_MS, FILE_ROWS, PAUSES_MS),
};

export const opengts: App = {
  ...gpslogger,
  name: "GPSLogger, OpenGTS",
  oddities: ["future", "null-island", "off-earth"],
  request: ([point], account) => ({
    method: "GET",
    path: `/ingest/opengts/k/${account.key}?${opengtsQuery(point!, account)}`,
    headers: { "User-Agent": "okhttp/4.12.0" },
    body: null,
  }),
  markOf: (point) => `$GPRMC,${clockOf(isoTime(point))}`,
  deviceIdOf: ({ user, device }) => `${user}:${device}`,
};

function allParameters(point: Point, aid: string) {
  const { latitude: lat, longitude: lon } = claimedPlace(point);
  const { accuracyMeters: acc, bearingDegrees: dir, speedMps: spd, batteryPercent: batt } = point;
  const place = { lat, lon, sat: 12, desc: "", alt: 34.2, acc, dir, prov: "gps" };
  const speed = { spd_kph: spd * 3.6, spd };
  const times = { timestamp: unixSeconds(point), time: isoTime(point, 3), date: isoTime(point).slice(0, 10) };
  const phone = { batt, ischarging: "false", aid, ser: "unknown", act: "", profile: "Default Profile" };
  return { ...place, ...speed, ...times, ...phone, hdop: 0.9, vdop: 1.2, pdop: 1.5, dist: 1234 };
}

/** GPSLogger escapes nothing of the sentence. */
function opengtsQuery(point: Point, { user, device }: Account): string {
  const { latitude, longitude } = claimedPlace(point);
  const time = isoTime(point);
  const date = time.slice(8, 10) + time.slice(5, 7) + time.slice(2, 4);
  const sentence = [
    ...["GPRMC", clockOf(time), "A"],
    ...[
      degreesMinutes(latitude),
      latitude < 0 ? "S" : "N",
      degreesMinutes(longitude),
      longitude < 0 ? "W" : "E",
    ],
    ...[knots(point).toFixed(6), point.bearingDegrees.toFixed(6), date, "", ""],
  ].join(",");
  const phone = `id=${device}&dev=${device}&acct=${user}&batt=${point.batteryPercent}&code=0xF020&alt=34.2`;
  return `${phone}&gprmc=$${sentence}*${checksum(sentence)}`;
}

function clockOf(iso: string): string {
  return iso.slice(11, 19).replaceAll(":", "");
}

/** Degrees and minutes without a zero before them. */
function degreesMinutes(degrees: number): string {
  const whole = Math.floor(Math.abs(degrees));
  const minutes = (Math.abs(degrees) - whole) * 60;
  return `${whole}${minutes.toFixed(5).padStart(8, "0")}`;
}

function checksum(sentence: string): string {
  const sum = [...sentence].reduce((xor, character) => xor ^ character.charCodeAt(0), 0);
  return sum.toString(16).toUpperCase().padStart(2, "0");
}
