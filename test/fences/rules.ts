import { createShape } from "../../src/geofences/shape.ts";
import type { AreaCondition, Watch, WatchedRecord } from "../../src/geofences/watch.ts";
import type { AppId, DeviceId, UserId } from "../../src/model/ids.ts";
import { WatchedDevice } from "../support/geofences/watched-device.ts";
import type { DegradedJourney, Report } from "./degrade.ts";
import { FENCE_RULES, type Site } from "./site.ts";

/** An event that a program made. */
export interface MadeEvent {
  readonly kind: "enter" | "exit";
  readonly timestamp: number;
}

/** The events that are left when all batches have arrived. */
export type Rule = (journey: DegradedJourney) => readonly MadeEvent[];

export const OURS = "wherehouse";

/** Ours, and what other programs document of theirs, without the settings that delay or suppress events. */
export const RULES: ReadonlyMap<string, Rule> = new Map([
  [OURS, decide],
  [
    "latest position only",
    ({ journey, batches }) => follow(newestOnly(batches.flat()), contains(journey.site)),
  ],
  ["order of arrival", ({ journey, batches }) => follow(batches.flat(), contains(journey.site))],
  ["accuracy ignored", ({ journey, batches }) => follow(byTime(batches.flat()), contains(journey.site))],
  [
    "distance minus accuracy",
    ({ journey, batches }) => follow(byTime(batches.flat()), touches(journey.site)),
  ],
]);

const DEVICE = "device" as DeviceId;

function decide({ journey, batches }: DegradedJourney): MadeEvent[] {
  const condition: AreaCondition = {
    kind: "area",
    shape: createShape(journey.site.area),
    accuracyMetersMax: FENCE_RULES.accuracy_meters_max,
    exitBufferMeters: FENCE_RULES.exit_buffer_meters,
    dwellMs: null,
    silenceMs: null,
    initial: "none",
  };
  const version = {
    number: 1,
    fromMs: 0,
    isActive: true,
    condition,
    confirmations: FENCE_RULES.confirmations,
    confirmMs: FENCE_RULES.confirm_seconds * 1000,
    schedule: null,
    devices: null,
    users: null,
  };
  const watch: Watch = { appId: "app" as AppId, id: "fence", versions: [version], deletedMs: null };
  const device = new WatchedDevice(DEVICE);
  device.change(watch, 0);
  for (const batch of batches) {
    device.report(batch.map(recordOf));
    device.decide();
  }
  const events = device.events.map(({ kind, timestampMs }) => ({
    kind: kind as MadeEvent["kind"],
    timestamp: timestampMs,
  }));
  return events.sort((a, b) => a.timestamp - b.timestamp);
}

function recordOf({ timestamp, latitude, longitude, horizontal_accuracy }: Report): WatchedRecord {
  return {
    timestampMs: timestamp,
    userId: "user" as UserId,
    latitude,
    longitude,
    accuracyMeters: horizontal_accuracy,
    metersPerSecond: null,
    batteryPercent: null,
  };
}

/* Others */

type IsInside = (report: Report) => boolean;

/** An event whenever a report is on the other side than the one before it. */
function follow(reports: readonly Report[], isInside: IsInside): MadeEvent[] {
  const events: MadeEvent[] = [];
  let wasInside: boolean | null = null;
  for (const report of reports) {
    const isNowInside = isInside(report);
    if (wasInside !== null && isNowInside !== wasInside)
      events.push({ kind: isNowInside ? "enter" : "exit", timestamp: report.timestamp });
    wasInside = isNowInside;
  }
  return events;
}

function contains({ area }: Site): IsInside {
  const shape = createShape(area);
  return ({ latitude, longitude }) => shape.distanceMeters(latitude, longitude) >= 0;
}

function touches({ area }: Site): IsInside {
  const shape = createShape(area);
  return (report) =>
    shape.distanceMeters(report.latitude, report.longitude) + report.horizontal_accuracy >= 0;
}

/** Drops reports that are not newer than all before them. */
function newestOnly(reports: readonly Report[]): Report[] {
  let newestMs = Number.NEGATIVE_INFINITY;
  return reports.filter(({ timestamp }) => {
    if (timestamp <= newestMs) return false;
    newestMs = timestamp;
    return true;
  });
}

function byTime(reports: readonly Report[]): Report[] {
  return reports.toSorted((a, b) => a.timestamp - b.timestamp);
}
