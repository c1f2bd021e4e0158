import { findSealed } from "../../archive/manifest.ts";
import { ok, type Result } from "../../lib/result.ts";
import { nextTurn } from "../../lib/schedule/timers.ts";
import { membersOf } from "../../model/correction.ts";
import { type ErasedScope, isErased } from "../../model/erasure.ts";
import type { NewestOfDevice } from "../../model/erasure-entry.ts";
import type { ServiceError } from "../../model/errors.ts";
import type { AppId, DeviceId, UserId } from "../../model/ids.ts";
import { pageReports } from "../../model/page-reports.ts";
import type { TimeRange } from "../../model/time/range.ts";
import { nextUtcDay, utcDayStartMs } from "../../model/time/utc-day.ts";
import { userOf } from "../../wal/user-instants.ts";
import { findNewestArchived } from "../corrections/newest-archived.ts";
import { findLastReported, type NewestDependencies } from "../corrections/newest-record.ts";
import { findNewestReported } from "../corrections/undo-assignment.ts";
import type { Caller } from "../queries/find-device.ts";
import { windowStart } from "../upkeep/seal/plan.ts";

/**
 * The newest record that remains of each device that may lose its newest archived one: by that one memory knows of
 * which times the archive may have records. A seal here, or an earlier one on another node, may archive what is in
 * memory.
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
    const inMemory = await findInMemory(dependencies, scope, losing, caller);
    if (!inMemory.ok) return inMemory;
    const beside = { ...scope.range, userId };
    const archived = await findNewestArchived(dependencies, scope.appId, losing, beside, caller);
    return archived.ok ? ok([...inMemory.value, ...archived.value]) : archived;
  }
  const left: NewestOfDevice[] = [];
  for (const deviceId of deviceIds) {
    const newest = await findBefore(dependencies, scope, deviceId, caller);
    if (!newest.ok) return newest;
    if (newest.value !== null) left.push(newest.value);
  }
  const own = await findNewestOfShown(dependencies, scope.appId, deviceIds, caller);
  return own.ok ? ok([...left, ...own.value]) : own;
}

/** The newest own records of devices that erased ones show as: an erased record may be the newest that they show. */
async function findNewestOfShown(
  dependencies: NewestDependencies,
  appId: AppId,
  deviceIds: ReadonlySet<DeviceId>,
  caller: Caller,
): Promise<Result<readonly NewestOfDevice[], ServiceError>> {
  const { hot } = dependencies;
  const newest: NewestOfDevice[] = [];
  for (const deviceId of hot.corrections.find(appId)?.aliases.shownIds(deviceIds) ?? []) {
    if (deviceIds.has(deviceId)) continue;
    const reported = await findNewestReported(dependencies, appId, hot.findApp(appId), deviceId, caller);
    if (!reported.ok) return reported;
    if (reported.value !== null) newest.push({ deviceId, record: reported.value });
  }
  return ok(newest);
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

/** Devices whose records are read in a turn, some 50 µs each. */
const STEP_READS = 32;

/** By day, the newest records that remain in days that are due and not archived, of devices that have any. */
async function findInMemory(
  dependencies: NewestDependencies,
  scope: ErasedScope,
  deviceIds: readonly DeviceId[],
  caller: Caller,
): Promise<Result<readonly NewestOfDevice[], ServiceError>> {
  const { hot, archive, clock } = dependencies;
  const firstKept = windowStart(clock.nowMs());
  const days = hot.daysInMemory().map(({ day }) => day);
  const due = days.filter((day) => day < firstKept && findSealed(archive().manifest, day) === undefined);
  const left: NewestOfDevice[] = [];
  let reads = 0;
  for (const deviceId of due.length === 0 ? [] : deviceIds) {
    for (const day of due) {
      const device = hot.findApp(scope.appId)?.find(deviceId) ?? null;
      const range = { startMs: utcDayStartMs(day), endMs: utcDayStartMs(nextUtcDay(day)) };
      if (device === null || device.countBefore(range.startMs) === device.countBefore(range.endMs)) continue;
      if (++reads % STEP_READS === 0) await nextTurn();
      const newest = await findWithin(dependencies, scope, deviceId, range, caller);
      if (!newest.ok) return newest;
      if (newest.value !== null) left.push(newest.value);
    }
  }
  return ok(left);
}

/** Records read at once in search of one that is not the user's. */
const PAGE_RECORDS = 1000;

/** The newest record of a device in a range that is not erased with its user, page by page; null if none is. */
async function findWithin(
  { history }: NewestDependencies,
  scope: ErasedScope,
  deviceId: DeviceId,
  { startMs, ...range }: TimeRange,
  caller: Caller,
): Promise<Result<NewestOfDevice | null, ServiceError>> {
  const page = { order: "desc", offset: 0, limit: PAGE_RECORDS, accuracyMetersMax: null } as const;
  for (let { endMs } = range; ; ) {
    const query = { ...page, withDistance: false, originals: true, range: { startMs, endMs } };
    const answer = await history.ofDevice(scope.appId, deviceId, query, caller);
    if (!answer.ok) return answer;
    let count = 0;
    for (const reports of answer.value.pages.map(pageReports))
      for (let row = 0; row < reports.count; row++) {
        count++;
        endMs = reports.timestampMs[row]!;
        if (!isErased(scope, deviceId, userOf(reports, row), endMs))
          return ok({ deviceId, record: membersOf(reports, row) });
      }
    if (count < PAGE_RECORDS) return ok(null);
  }
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
