import { Decision, versionAt } from "../../geofences/decision.ts";
import type { Watch, WatchedRecord } from "../../geofences/watch.ts";
import { createWatchState, type WatchState } from "../../geofences/watch-state.ts";
import type { Steps } from "../../lib/schedule/steps.ts";
import type { DeviceId } from "../../model/ids.ts";

/*
 * The state of a device for a fence that has no stored one, because the device was not inside. Its last records tell
 * whether it was outside, or nothing is known: records that say often enough that it is outside leave the same state,
 * whatever was before them.
 */

/** Records of a step, which takes a millisecond for an area of many corners. */
const STEP_RECORDS = 128;

/**
 * The state after some consecutive records, oldest first; null if it depends on records before them. `areAll` says that
 * there are none that the fence was in force for.
 */
export function* findPastState(
  watch: Watch,
  deviceId: DeviceId,
  records: readonly WatchedRecord[],
  areAll: boolean,
): Steps<WatchState | null> {
  const state = createWatchState();
  const decision = new Decision(watch, deviceId, state);
  let isCertain = areAll;
  for (const [index, record] of records.entries()) {
    decision.take(record);
    isCertain ||= state.place === "outside" || isForgotten(watch, deviceId, records[index - 1], record);
    if (index % STEP_RECORDS === STEP_RECORDS - 1) yield;
  }
  return isCertain ? state : null;
}

/** Whether nothing from before a record counts, because the hours of the fence ended since, or it was not active. */
function isForgotten(
  watch: Watch,
  deviceId: DeviceId,
  before: WatchedRecord | undefined,
  record: WatchedRecord,
): boolean {
  const version = versionAt(watch, record.timestampMs);
  if (version === null) return true;
  const { isActive, devices, schedule } = version;
  if (!isActive || (devices !== null && !devices.has(deviceId))) return true;
  if (schedule === null) return false;
  if (!schedule.spanAt(record.timestampMs).isOpen) return true;
  if (before === undefined) return false;
  const isSame = versionAt(watch, before.timestampMs) === version;
  return isSame && schedule.spanAt(before.timestampMs).endMs <= record.timestampMs;
}
