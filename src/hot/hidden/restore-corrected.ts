import { isOwn, type RecordMembers } from "../../model/correction.ts";
import type { AppId, DeviceId } from "../../model/ids.ts";
import type { Apps } from "../apps.ts";
import type { AliasRows } from "./alias-rows.ts";
import type { CorrectionsOfApp } from "./held-correction.ts";
import type { NewestInDoubt } from "./newest-in-doubt.ts";
import type { RowMover } from "./row-mover.ts";

/** What a start fills with newest records. */
export interface RestoredMemory {
  readonly apps: Apps;
  readonly mover: RowMover;
  readonly aliasRows: AliasRows;
  readonly inDoubt: NewestInDoubt;
}

/**
 * Restores the newest records that the checkpoint may not show, because it is older than a correction. A record that
 * another device may have reported is not restored, since the assignment may have been undone: the start reads the
 * newest record of such a device from the archive.
 */
export function restoreCorrected(
  appId: AppId,
  ofApp: CorrectionsOfApp,
  { apps, mover, aliasRows, inDoubt }: RestoredMemory,
): void {
  const lending = findLending(ofApp);
  for (const { correction, number, newest, newestOfTarget } of ofApp.byId.values()) {
    const { deviceId, target } = correction;
    restore(deviceId, number, newest);
    if (target !== null) restore(target.deviceId, number, newestOfTarget);
  }
  // Of what aliased devices show, memory has the rows of their corrections by now.
  for (const shownId of new Set(ofApp.aliases.all().map((alias) => alias.shownId)))
    for (const _ of aliasRows.copyAll(appId, shownId));

  function restore(deviceId: DeviceId, number: number, newest: RecordMembers | null): void {
    const stage = ofApp.stageFor(deviceId, number);
    if (newest === null || ofApp.isHidden(stage, Number(newest.timestamp))) return;
    const isAliased = ofApp.aliases.of(stage) !== null;
    const app = isAliased ? apps.findOrAddAliased(appId) : apps.findOrAdd(appId);
    const place = { app, device: app.findOrAdd(deviceId) };
    const { assigned, undone } = lending.get(deviceId) ?? NEVER_LENT;
    if (isOwn(newest) || (number < assigned && number > undone)) mover.setNewest(place, deviceId, newest);
    else inDoubt.add(appId, deviceId);
  }
}

/** When records of others may have shown as a device's, by the numbers of corrections. */
interface Lending {
  /** Since the first assignment that is active. */
  readonly assigned: number;
  /** Until the last undoing of one. */
  readonly undone: number;
}

const NEVER_LENT: Lending = { assigned: Number.POSITIVE_INFINITY, undone: Number.NEGATIVE_INFINITY };

function findLending({ byId }: CorrectionsOfApp): ReadonlyMap<DeviceId, Lending> {
  const lending = new Map<DeviceId, Lending>();
  for (const { correction, number, isActive } of byId.values()) {
    const toId = correction.isOfDevice === true ? correction.target!.deviceId : correction.deviceId;
    if (toId === correction.deviceId) continue; // To a user alone, if it assigns at all.
    const { assigned, undone } = lending.get(toId) ?? NEVER_LENT;
    lending.set(
      toId,
      isActive
        ? { assigned: Math.min(assigned, number), undone }
        : { assigned, undone: Math.max(undone, number) },
    );
  }
  return lending;
}
