import {
  type CorrectionsOfApp,
  devicesOf,
  type HeldCorrection,
  targetTimes,
} from "../../hot/hidden/held-correction.ts";
import type { DeviceId } from "../../model/ids.ts";

/** The ids of later active corrections that touch an instant which this one touches, too; the oldest first. */
export function findLater(app: CorrectionsOfApp, item: HeldCorrection): string[] {
  const ids = new Map<number, string>();
  for (const deviceId of devicesOf(item.correction)) {
    const stage = app.stageFor(deviceId, item.number);
    const link = app.aliases.linkOf(stage);
    if (link !== null && link.number > item.number) ids.set(link.number, link.id);
    for (const times of timesOn(item, deviceId))
      for (const timeMs of times) addLater(app, stage, timeMs, item.number, ids);
  }
  return inOrder(ids);
}

/** Adds the active corrections after a number that touch an instant of a device or stage: their ids, by number. */
export function addLater(
  app: CorrectionsOfApp,
  stage: DeviceId,
  timeMs: number,
  number: number,
  ids: Map<number, string>,
): void {
  let next = app.nextTouching(stage, timeMs, number);
  for (; next !== null; next = app.nextTouching(stage, timeMs, next.number))
    ids.set(next.number, next.correction.id);
}

/** Ids by number, the oldest first. */
export function inOrder(ids: ReadonlyMap<number, string>): string[] {
  return [...ids].sort(([a], [b]) => a - b).map(([, id]) => id);
}

/** The instants of a device from which a correction took records, and those at which it shows them. */
function timesOn(item: HeldCorrection, deviceId: DeviceId): Float64Array[] {
  const { correction, timestampMs } = item;
  const isTarget = correction.target?.deviceId === deviceId;
  if (correction.deviceId !== deviceId) return isTarget ? [targetTimes(item)!] : [];
  return isTarget && correction.target!.byMs !== 0 ? [timestampMs, targetTimes(item)!] : [timestampMs];
}
