import { ok, type Result } from "../../lib/result.ts";
import { nextTurn } from "../../lib/schedule/timers.ts";
import type { ErasedScope } from "../../model/erasure.ts";
import type { NewestOfDevice } from "../../model/erasure-entry.ts";
import type { ServiceError } from "../../model/errors.ts";
import type { AppId, DeviceId, UserId } from "../../model/ids.ts";
import { findNewestArchived } from "../corrections/newest-archived.ts";
import { findLastReported, type NewestDependencies } from "../corrections/newest-record.ts";
import type { Caller } from "../queries/find-device.ts";

/**
 * The newest archived record that remains of each device that may lose the one that memory knows: by that one memory
 * knows of which times the archive may have records.
 */
export async function findNewestLeft(
  dependencies: NewestDependencies,
  scope: ErasedScope,
  deviceIds: ReadonlySet<DeviceId>,
  caller: Caller,
): Promise<Result<readonly NewestOfDevice[], ServiceError>> {
  const { userId } = scope;
  if (userId !== null) {
    const losing = await findLosing(dependencies, scope.appId, userId, deviceIds);
    return findNewestArchived(dependencies, scope.appId, losing, { ...scope.range, userId }, caller);
  }
  const left: NewestOfDevice[] = [];
  for (const deviceId of deviceIds) {
    const newest = await findBefore(dependencies, scope, deviceId, caller);
    if (!newest.ok) return newest;
    if (newest.value !== null) left.push(newest.value);
  }
  return ok(left);
}

/** The newest archived records of devices of which memory knows none. */
export function findNewestOfLost(
  dependencies: NewestDependencies,
  appId: AppId,
  lost: readonly DeviceId[],
  caller: Caller,
): Promise<Result<readonly NewestOfDevice[], ServiceError>> {
  return lost.length === 0
    ? Promise.resolve(ok([]))
    : findNewestArchived(dependencies, appId, lost, null, caller);
}

/** Devices looked up in a turn, a few microseconds each. */
const STEP_DEVICES = 1024;

/** The devices that may lose their newest archived record with a user. */
async function findLosing(
  { hot }: NewestDependencies,
  appId: AppId,
  userId: UserId,
  deviceIds: ReadonlySet<DeviceId>,
): Promise<DeviceId[]> {
  const losing: DeviceId[] = [];
  let looks = 0;
  for (const deviceId of deviceIds) {
    if (++looks % STEP_DEVICES === 0) await nextTurn();
    if (hot.knowsRecordsOf(appId, userId, deviceId)) losing.push(deviceId);
  }
  return losing;
}

/** The newest record before the range; null if there is none, or the device loses none. */
async function findBefore(
  dependencies: NewestDependencies,
  { appId, range }: ErasedScope,
  deviceId: DeviceId,
  caller: Caller,
): Promise<Result<NewestOfDevice | null, ServiceError>> {
  const newestMs = dependencies.hot.findApp(appId)?.find(deviceId)?.newestMs ?? Number.NEGATIVE_INFINITY;
  if (newestMs < range.startMs || range.startMs === Number.NEGATIVE_INFINITY) return ok(null);
  const before = { startMs: Number.NEGATIVE_INFINITY, endMs: range.startMs };
  const newest = await findLastReported(dependencies, appId, deviceId, before, caller);
  if (!newest.ok) return newest;
  return ok(newest.value === null ? null : { deviceId, record: newest.value });
}
