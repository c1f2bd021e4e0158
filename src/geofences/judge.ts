import { areFarFrom } from "../model/geo/box.ts";
import type { DeviceId } from "../model/ids.ts";
import type { AreaCondition, Condition, WatchedRecord, WatchVersion } from "./watch.ts";

/**
 * What a record says: that the device is inside, which for alerts means that the condition holds, or outside. Undecided
 * records say only that the device is not silent; the watch does not see ignored ones.
 */
export type Judgement = "inside" | "outside" | "undecided" | "ignored";

/** An alert about the charge ends when it has risen this far above the limit. */
export const BATTERY_RISE_PERCENT = 5;

/** Judges a record from the time of a version. */
export function judge(version: WatchVersion, deviceId: DeviceId, record: WatchedRecord): Judgement {
  const { schedule, condition } = version;
  if (!version.isActive || !concerns(version, deviceId, record)) return "ignored";
  if (schedule !== null && !schedule.spanAt(record.timestampMs).isOpen) return "ignored";
  if (condition.kind === "area" && (record.accuracyMeters ?? 0) > condition.accuracyMetersMax)
    return "ignored";
  return judgeBy(condition, record);
}

/** Whether a record that was inside under an older version is inside under this one. */
export function isStillInside(version: WatchVersion, deviceId: DeviceId, record: WatchedRecord): boolean {
  return concerns(version, deviceId, record) && judgeBy(version.condition, record) === "inside";
}

function concerns({ devices, users }: WatchVersion, deviceId: DeviceId, { userId }: WatchedRecord): boolean {
  return (devices === null || devices.has(deviceId)) && (users === null || users.has(userId));
}

function judgeBy(condition: Condition, record: WatchedRecord): Judgement {
  switch (condition.kind) {
    case "area":
      return judgePosition(condition, record);
    case "speed_above":
      return judgeSpeed(condition.metersPerSecond, record.metersPerSecond);
    case "battery_below":
      return judgeCharge(condition.percent, record.batteryPercent);
    case "silent_for":
      return "outside"; // The device reports.
  }
}

function judgePosition({ shape, exitBufferMeters }: AreaCondition, record: WatchedRecord): Judgement {
  const accuracyMeters = record.accuracyMeters ?? 0;
  const outsideMeters = accuracyMeters + exitBufferMeters;
  // Most fixes are far away, and the distance to a border of many corners takes long.
  if (areFarFrom(shape.boxes, record.latitude, record.longitude, outsideMeters)) return "outside";
  const meters = shape.distanceMeters(record.latitude, record.longitude);
  if (meters >= Math.min(accuracyMeters, shape.accuracyMetersMax) / 2) return "inside";
  return -meters >= outsideMeters ? "outside" : "undecided";
}

function judgeSpeed(limit: number, metersPerSecond: number | null): Judgement {
  if (metersPerSecond === null) return "ignored";
  return metersPerSecond > limit ? "inside" : "outside";
}

function judgeCharge(limit: number, percent: number | null): Judgement {
  if (percent === null) return "ignored";
  if (percent < limit) return "inside";
  return percent >= limit + BATTERY_RISE_PERCENT ? "outside" : "undecided";
}
