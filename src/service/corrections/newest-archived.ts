import type { UserRange } from "../../archive/read/archive-session.ts";
import { ok, type Result } from "../../lib/result.ts";
import { nextTurn } from "../../lib/schedule/timers.ts";
import { membersOf } from "../../model/correction.ts";
import type { NewestOfDevice } from "../../model/erasure-entry.ts";
import type { ServiceError } from "../../model/errors.ts";
import type { AppId, DeviceId } from "../../model/ids.ts";
import { pageReports } from "../../model/page-reports.ts";
import type { RecordPage } from "../../model/record-page.ts";
import { nextUtcDay, type UtcDay, utcDayStartMs } from "../../model/time/utc-day.ts";
import { type Caller, retainedRange } from "../queries/find-device.ts";
import { sealedDaysOf } from "../queries/history/plan.ts";
import { type ArchiveDependencies, createReadArchive } from "../queries/history/read-archive.ts";

/** Devices that one statement names: to bind each takes some microseconds. */
const LISTED_MAX = 2048;

/**
 * The newest archived records that devices reported themselves and that neither a correction nor an erasure takes away,
 * of those that have any: the newest days are read first, and as few as are needed. Late rows are not laid over them.
 * `beside` excludes what was reported with a user.
 */
export async function findNewestArchived(
  dependencies: ArchiveDependencies,
  appId: AppId,
  deviceIds: readonly DeviceId[],
  beside: UserRange | null,
  caller: Caller,
): Promise<Result<readonly NewestOfDevice[], ServiceError>> {
  const { hot, archive } = dependencies;
  const sealed = [...archive().manifest.days.keys()];
  if (deviceIds.length === 0 || sealed.length === 0) return ok([]);
  const range = retainedRange(dependencies, {
    startMs: utcDayStartMs(Math.min(...sealed) as UtcDay),
    endMs: utcDayStartMs(nextUtcDay(Math.max(...sealed) as UtcDay)),
  });
  const readArchive = createReadArchive(dependencies);
  return readArchive(appId, range, caller, async ({ session, stretches, partsOfDay }) => {
    const newest: NewestOfDevice[] = [];
    const days = sealedDaysOf(stretches).reverse();
    const hidden = hot.hiddenRows(appId, null)?.within(range) ?? null;
    for (let start = 0; start < deviceIds.length; start += LISTED_MAX) {
      const left = new Set(deviceIds.slice(start, start + LISTED_MAX));
      for (let from = 0, count = 1; from < days.length && left.size > 0; from += count, count *= 2) {
        const parts = days.slice(from, from + count).flatMap((day) => partsOfDay(day));
        const whose = { appId, deviceId: null, userId: null, accuracyMetersMax: null };
        const scan = { ...whose, range, parts, late: null, hidden };
        for await (const page of session.newest(scan, [...left], beside)) {
          for (const each of newestIn(page)) {
            newest.push(each);
            left.delete(each.deviceId);
          }
          await nextTurn();
        }
      }
    }
    return newest;
  });
}

function newestIn(page: RecordPage): NewestOfDevice[] {
  const reports = pageReports(page);
  const { texts, device, count } = reports;
  return Array.from({ length: count }, (_, row) => ({
    deviceId: texts[device[row]!]! as DeviceId,
    record: membersOf(reports, row),
  }));
}
