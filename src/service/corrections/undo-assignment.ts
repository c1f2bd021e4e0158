import type { AppDevices } from "../../hot/app-devices.ts";
import type { Device } from "../../hot/devices/device.ts";
import { assignedTo, type CorrectionsOfApp, type HeldCorrection } from "../../hot/hidden/held-correction.ts";
import { PageBuilder } from "../../hot/scan/page-builder.ts";
import { ok, type Result } from "../../lib/result.ts";
import type { Steps } from "../../lib/schedule/steps.ts";
import { hasNumber } from "../../lib/tables/sorted-numbers.ts";
import { asOwn, membersOf, type RecordMembers } from "../../model/correction.ts";
import type { NewestAfter } from "../../model/correction-entry.ts";
import type { ServiceError } from "../../model/errors.ts";
import type { AppId, DeviceId } from "../../model/ids.ts";
import { pageReports } from "../../model/page-reports.ts";
import type { RecordPage } from "../../model/record-page.ts";
import { nextUtcDay, type UtcDay, utcDayOf, utcDayStartMs } from "../../model/time/utc-day.ts";
import { type Caller, retainedRange } from "../queries/find-device.ts";
import { sealedDaysOf } from "../queries/history/plan.ts";
import { createReadArchive } from "../queries/history/read-archive.ts";
import { addLater, inOrder } from "./later-corrections.ts";
import type { NewestDependencies } from "./newest-record.ts";

/** Devices visited, or rows of one, before other work gets a turn. */
const STEP_ROWS = 2048;

/**
 * The ids of later active corrections of records that an assigned device reported, the oldest first: of the device that
 * it shows as, at an instant that it has; and the next assignment of a chain. Of a device that is assigned to a user
 * alone, all later ones.
 */
export async function findLaterOfAlias(
  dependencies: NewestDependencies,
  appId: AppId,
  ofApp: CorrectionsOfApp,
  { number, correction }: HeldCorrection,
  caller: Caller,
): Promise<Result<string[], ServiceError>> {
  const { deviceId, target } = correction;
  const toId = assignedTo(correction);
  const ids = new Map<number, string>();
  const link = ofApp.aliases.linkOf(toId);
  if (link !== null) ids.set(link.number, link.id); // A later one, since a device that has one can't be named.
  const touched = ofApp.hidden.get(toId)?.timesAfter(number) ?? NO_TIMES;
  const reported =
    toId !== target!.deviceId
      ? ok(touched)
      : await findReportedAt(dependencies, appId, deviceId, touched, caller);
  if (!reported.ok) return reported;
  for (const timeMs of reported.value) addLater(ofApp, toId, timeMs, number, ids);
  return ok(inOrder(ids));
}

const NO_TIMES = new Float64Array(0);

/** Those of some sorted instants at which an assigned device, or one that shows as it, has a record. */
async function findReportedAt(
  dependencies: NewestDependencies,
  appId: AppId,
  deviceId: DeviceId,
  times: Float64Array,
  caller: Caller,
): Promise<Result<ReadonlySet<number>, ServiceError>> {
  const reported = new Set<number>();
  if (times.length === 0) return ok(reported);
  const { hot, scheduler } = dependencies;
  const devices = [deviceId, ...sourcesOf(hot, appId, deviceId)];
  const inMemory = devices.map((id) => hot.findAliased(appId)?.find(id) ?? null);
  const present = inMemory.filter((device) => device !== null);
  await scheduler.runAtOnce(appId, caller.signal, addReported(present, times, reported));
  const range = { startMs: times[0]!, endMs: times.at(-1)! + 1 };
  const readArchive = createReadArchive(dependencies);
  return readArchive(appId, range, caller, async ({ session, partsOfDay }) => {
    const days = [...new Set(times.map(utcDayOf))];
    const parts = days.flatMap((day) => partsOfDay(day as UtcDay));
    for (const id of devices) {
      const hidden = hot.hiddenRows(appId, id)?.within(range) ?? null;
      const scan = { appId, deviceId: id, userId: null, range, accuracyMetersMax: null, parts, late: null };
      for await (const { timestampMs } of session.keys({ ...scan, hidden }))
        for (const timeMs of timestampMs) if (hasNumber(times, timeMs)) reported.add(timeMs);
    }
    return reported;
  });
}

function* addReported(devices: readonly Device[], times: Float64Array, reported: Set<number>): Steps<void> {
  for (const device of devices) {
    for (let at = 0; at < times.length; at++) {
      if (at % STEP_ROWS === STEP_ROWS - 1) yield;
      if (device.findRecord(times[at]!) !== null) reported.add(times[at]!);
    }
  }
}

/** Assigned devices that show as one which shows as another. */
function sourcesOf({ corrections }: NewestDependencies["hot"], appId: AppId, deviceId: DeviceId): DeviceId[] {
  const aliases = corrections.find(appId)?.aliases;
  const shownId = aliases?.of(deviceId)?.shownId;
  if (aliases === undefined || shownId === undefined) return [];
  return aliases.shownAs(shownId).flatMap((alias) => (alias.via.includes(deviceId) ? [alias.deviceId] : []));
}

/** The newest records of both devices after the undoing: what each reported itself, as far as that may not be known. */
export async function findNewestApart(
  dependencies: NewestDependencies,
  appId: AppId,
  { correction }: HeldCorrection,
  caller: Caller,
): Promise<Result<NewestAfter, ServiceError>> {
  const { hot } = dependencies;
  const newest = await findNewestReported(
    dependencies,
    appId,
    hot.findAliased(appId),
    correction.deviceId,
    caller,
  );
  if (!newest.ok) return newest;
  const toId = correction.target!.deviceId;
  if (toId === correction.deviceId) return ok({ newest: newest.value, newestOfTarget: null });
  const ofTarget = await findNewestReported(dependencies, appId, hot.findApp(appId), toId, caller);
  return ofTarget.ok ? ok({ newest: newest.value, newestOfTarget: ofTarget.value }) : ofTarget;
}

/**
 * The newest record that a device reported itself and that no correction hides, with a mark that says so, since others
 * may show as the device; null if there is none.
 */
export async function findNewestReported(
  dependencies: NewestDependencies,
  appId: AppId,
  app: AppDevices | null,
  deviceId: DeviceId,
  caller: Caller,
): Promise<Result<RecordMembers | null, ServiceError>> {
  const { scheduler } = dependencies;
  const device = app?.find(deviceId) ?? null;
  const inMemory =
    device === null
      ? null
      : await scheduler.runAtOnce(appId, caller.signal, findNewestInMemory(dependencies, device));
  const archived = await findNewestArchived(dependencies, appId, app, deviceId, caller);
  if (!archived.ok) return archived;
  const archivedMs = Number(archived.value?.timestamp ?? Number.NEGATIVE_INFINITY);
  const newest = inMemory !== null && Number(inMemory.timestamp) >= archivedMs ? inMemory : archived.value;
  return ok(newest === null ? null : asOwn(newest));
}

/** Like `findNewestReported()`, of archived days, with late rows laid over them. */
async function findNewestArchived(
  dependencies: NewestDependencies,
  appId: AppId,
  app: AppDevices | null,
  deviceId: DeviceId,
  caller: Caller,
): Promise<Result<RecordMembers | null, ServiceError>> {
  const { hot, archive } = dependencies;
  const days = [...archive().manifest.days.keys()];
  if (days.length === 0) return ok(null);
  const ofDays = { startMs: utcDayStartMs(Math.min(...days) as UtcDay), endMs: dayEndMs(Math.max(...days)) };
  const range = retainedRange(dependencies, ofDays);
  if (range.startMs >= range.endMs) return ok(null);
  const readArchive = createReadArchive(dependencies);
  return readArchive(appId, range, caller, async ({ session, stretches, partsOfDay }) => {
    const parts = sealedDaysOf(stretches).flatMap((day) => partsOfDay(day));
    const device = app?.find(deviceId) ?? null;
    // Less those of devices that show as this one, and rows of corrections, all of which memory has.
    const late =
      app === null || device === null ? null : await hot.originalLateRows(app, device).whole(range);
    const hidden = hot.hiddenRows(appId, deviceId)?.within(range) ?? null;
    const scan = { appId, deviceId, userId: null, range, accuracyMetersMax: null, parts, late, hidden };
    return firstOf(await session.page(scan, "desc", 0, 1));
  });
}

function dayEndMs(day: number): number {
  return utcDayStartMs(nextUtcDay(day as UtcDay));
}

/** The newest record of an unsealed day that the device reported itself. */
function* findNewestInMemory(
  { hot, archive }: Pick<NewestDependencies, "hot" | "archive">,
  device: Device,
): Steps<RecordMembers | null> {
  for (let at = device.recordCount - 1; at >= 0; at--) {
    if (at % STEP_ROWS === 0) yield;
    if (at >= device.recordCount) continue; // Some went meanwhile.
    const timeMs = device.timeAt(at);
    const { corrected, copies } = device.columns;
    if (corrected.has(device.number, timeMs) || copies?.has(device.number, timeMs) === true) continue;
    const { days, expired } = archive().manifest;
    if (days.has(utcDayOf(timeMs)) || expired.has(utcDayOf(timeMs))) continue;
    const { chunk, row } = device.recordAt(at);
    const page = new PageBuilder(1, hot.dictionary);
    page.add(device, chunk, row);
    return firstOf(page.build());
  }
  return null;
}

function firstOf(page: RecordPage): RecordMembers | null {
  return page.count === 0 ? null : membersOf(pageReports(page), 0);
}
