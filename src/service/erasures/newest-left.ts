import { ok, type Result } from "../../lib/result.ts";
import { membersOf } from "../../model/correction.ts";
import { type ErasedScope, isErased } from "../../model/erasure.ts";
import type { NewestOfDevice } from "../../model/erasure-entry.ts";
import type { ServiceError } from "../../model/errors.ts";
import type { DeviceId } from "../../model/ids.ts";
import { pageReports } from "../../model/page-reports.ts";
import { findLastReported, type NewestDependencies } from "../corrections/newest-record.ts";
import type { Caller } from "../queries/find-device.ts";

/** Records read at once in search of one that is not the user's. */
const PAGE_RECORDS = 1000;

/**
 * The newest record that remains of each device that may lose its newest one, or its newest archived one: by that one
 * memory knows of which times the archive may have records.
 */
export async function findNewestLeft(
  dependencies: NewestDependencies,
  scope: ErasedScope,
  caller: Caller,
): Promise<Result<NewestOfDevice[], ServiceError>> {
  const { appId, deviceIds, userId, range } = scope;
  const left: NewestOfDevice[] = [];
  for (const deviceId of deviceIds) {
    const newestMs = dependencies.hot.findApp(appId)?.find(deviceId)?.newestMs ?? Number.NEGATIVE_INFINITY;
    if (newestMs < range.startMs || (userId !== null && newestMs >= range.endMs)) continue;
    const newest =
      userId === null
        ? await findBefore(dependencies, scope, deviceId, caller)
        : await findOfOthers(dependencies, scope, deviceId, newestMs, caller);
    if (!newest.ok) return newest;
    if (newest.value !== null) left.push(newest.value);
  }
  return ok(left);
}

type Found = Promise<Result<NewestOfDevice | null, ServiceError>>;

async function findBefore(
  dependencies: NewestDependencies,
  { appId, range }: ErasedScope,
  deviceId: DeviceId,
  caller: Caller,
): Found {
  if (range.startMs === Number.NEGATIVE_INFINITY) return ok(null);
  const before = { startMs: Number.NEGATIVE_INFINITY, endMs: range.startMs };
  const newest = await findLastReported(dependencies, appId, deviceId, before, caller);
  return newest.ok && newest.value !== null ? ok({ deviceId, record: newest.value }) : ok(null);
}

/** The newest record of a device that is not erased with its user, page by page. */
async function findOfOthers(
  { history }: NewestDependencies,
  scope: ErasedScope,
  deviceId: DeviceId,
  newestMs: number,
  caller: Caller,
): Found {
  const page = {
    order: "desc",
    offset: 0,
    accuracyMetersMax: null,
    withDistance: false,
    originals: true,
  } as const;
  for (let endMs = newestMs + 1; ; ) {
    const range = { startMs: Number.NEGATIVE_INFINITY, endMs };
    const query = { ...page, limit: PAGE_RECORDS, range };
    const answer = await history.ofDevice(scope.appId, deviceId, query, caller);
    if (!answer.ok) return answer;
    let count = 0;
    for (const part of answer.value.pages) {
      const reports = pageReports(part);
      for (let row = 0; row < reports.count; row++) {
        count++;
        const record = membersOf(reports, row);
        endMs = Number(record.timestamp);
        if (!isErased(scope, deviceId, userIdOf(record), endMs)) return ok({ deviceId, record });
      }
    }
    if (count < PAGE_RECORDS) return ok(null);
  }
}

function userIdOf({ user_id: userId }: Readonly<Record<string, unknown>>): string | null {
  return typeof userId === "string" ? userId : null;
}
