import { ok, type Result } from "../../lib/result.ts";
import type { ServiceError } from "../../model/errors.ts";
import type { AppId, DeviceId, UserId } from "../../model/ids.ts";
import { nextUtcDay, type UtcDay, utcDayStartMs } from "../../model/time/utc-day.ts";
import type { Caller } from "../queries/find-device.ts";
import { sealedDaysOf } from "../queries/history/plan.ts";
import { type ArchiveDependencies, createReadArchive } from "../queries/history/read-archive.ts";

/** Devices and those that show as them, which go with them: the oldest assignment first. */
export function devicesShownAs(
  { hot }: ArchiveDependencies,
  appId: AppId,
  deviceIds: readonly DeviceId[],
): DeviceId[] {
  const aliases = deviceIds.flatMap((deviceId) => hot.aliases(appId, deviceId));
  return [...new Set([...deviceIds, ...aliases.map((alias) => alias.deviceId)])];
}

/**
 * The devices that reported anything with a user, in memory or archived, retained or not, and those that are assigned
 * to the user; in no order.
 */
export async function devicesOfUser(
  dependencies: ArchiveDependencies,
  appId: AppId,
  userId: UserId,
  caller: Caller,
): Promise<Result<DeviceId[], ServiceError>> {
  const { hot, archive } = dependencies;
  const ids = new Set<DeviceId>();
  for (const { correction } of hot.corrections.list(appId, null, true))
    if (correction.isOfDevice === true && correction.target?.userId === userId) ids.add(correction.deviceId);
  const user = hot.dictionary.findUser(userId);
  for (const app of user === null ? [] : hot.reportedPlaces(appId))
    for (const block of app.users.devicesWithRecords(() => user!).blocks())
      for (const { id } of block) ids.add(id);
  const { days } = archive().manifest;
  if (days.size === 0) return ok([...ids]);
  const [first, last] = [Math.min(...days.keys()), Math.max(...days.keys())] as [UtcDay, UtcDay];
  const range = { startMs: utcDayStartMs(first), endMs: utcDayStartMs(nextUtcDay(last)) };
  const readArchive = createReadArchive(dependencies);
  return readArchive(appId, range, caller, async ({ session, stretches, partsOfDay }) => {
    const parts = sealedDaysOf(stretches).flatMap((day) => partsOfDay(day));
    const scan = { appId, deviceId: null, userId, range, accuracyMetersMax: null, parts, late: null };
    for await (const some of session.devices(scan)) for (const id of some) ids.add(id);
    return [...ids];
  });
}
