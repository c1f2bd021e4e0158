import {
  type CorrectionsOfApp,
  type HeldCorrection,
  isAboutAny,
  targetTimes,
} from "../../hot/hidden/held-correction.ts";
import { ok, type Result } from "../../lib/result.ts";
import { type ErasedScope, isUnbounded } from "../../model/erasure.ts";
import type { ServiceError } from "../../model/errors.ts";
import type { DeviceId } from "../../model/ids.ts";
import { findLater } from "../corrections/later-corrections.ts";
import type { NewestDependencies } from "../corrections/newest-record.ts";
import { findLaterOfAlias } from "../corrections/undo-assignment.ts";
import type { Caller } from "../queries/find-device.ts";

/**
 * The active corrections that an erasure can't take with it, the oldest first: their records are only partly erased, or
 * are records of others that show as the subject's, or they were made of what others show since a correction that goes.
 * An operator undoes them, and decides about those records.
 */
export async function correctionsInTheWay(
  dependencies: NewestDependencies,
  scope: ErasedScope,
  deviceIds: ReadonlySet<DeviceId>,
  caller: Caller,
): Promise<Result<string[], ServiceError>> {
  const { appId, userId } = scope;
  const ofApp = dependencies.hot.corrections.find(appId);
  if (ofApp === null) return ok([]);
  const ids = new Set(idsInTheWay(ofApp, scope, deviceIds));
  if (userId === null) {
    const going = goingWith(ofApp, scope, deviceIds).filter(
      (item) => item.isActive && !ids.has(item.correction.id),
    );
    const goingIds = new Set(going.map(({ correction }) => correction.id));
    for (const item of going) {
      const later =
        item.correction.isOfDevice === true
          ? await findLaterOfAlias(dependencies, appId, ofApp, item, caller)
          : ok(findLater(ofApp, item));
      if (!later.ok) return later;
      for (const id of later.value) if (!goingIds.has(id)) ids.add(id);
    }
  }
  return ok([...ids].sort()); // A later one has a greater id.
}

/** The corrections that go with what an erasure destroys, if none is in its way; also some that are undone. */
export function goingWith(
  { byId }: CorrectionsOfApp,
  { range }: ErasedScope,
  deviceIds: ReadonlySet<DeviceId>,
): HeldCorrection[] {
  return [...byId.values()].filter((item) => isAboutAny(item, deviceIds, range));
}

/** Those of the subject's corrections that are in the way. */
function idsInTheWay(
  ofApp: CorrectionsOfApp,
  { userId, range }: ErasedScope,
  deviceIds: ReadonlySet<DeviceId>,
): string[] {
  const inTheWay = new Set<HeldCorrection>();
  const isWhole = isUnbounded(range);
  const isWithin = (timeMs: number) => timeMs >= range.startMs && timeMs < range.endMs;
  for (const [deviceId, active] of ofApp.activeOf) {
    if (!deviceIds.has(deviceId)) continue;
    for (const item of active) {
      const { correction, timestampMs } = item;
      const all = timestampMs.every(isWithin) && (targetTimes(item)?.every(isWithin) ?? true);
      const none = !timestampMs.some(isWithin) && !(targetTimes(item)?.some(isWithin) ?? false);
      const takesOnlyOwn = deviceIds.has(correction.deviceId);
      const canGo = correction.isOfDevice === true ? isWhole && takesOnlyOwn : none || (all && takesOnlyOwn);
      if (userId !== null ? !none || correction.isOfDevice === true : !canGo) inTheWay.add(item);
    }
  }
  return [...inTheWay].map(({ correction }) => correction.id);
}
