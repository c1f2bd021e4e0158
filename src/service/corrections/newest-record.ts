import type { AppDevices } from "../../hot/app-devices.ts";
import { type HeldCorrection, targetTimes } from "../../hot/hidden/held-correction.ts";
import type { HiddenRows } from "../../hot/hidden/hidden-rows.ts";
import { Instants } from "../../hot/hidden/instants.ts";
import { PageBuilder } from "../../hot/scan/page-builder.ts";
import { ok, type Result } from "../../lib/result.ts";
import { inOneStep } from "../../lib/schedule/steps.ts";
import { hasNumber } from "../../lib/tables/sorted-numbers.ts";
import { asOwn, membersOf, type RecordMembers } from "../../model/correction.ts";
import type { NewestAfter } from "../../model/correction-entry.ts";
import type { ServiceError } from "../../model/errors.ts";
import type { AppId, DeviceId } from "../../model/ids.ts";
import { pageReports } from "../../model/page-reports.ts";
import type { RecordPage } from "../../model/record-page.ts";
import type { TimeRange } from "../../model/time/range.ts";
import { utcDayOf } from "../../model/time/utc-day.ts";
import type { Caller } from "../queries/find-device.ts";
import type { HistoryQueries } from "../queries/history/history.ts";
import { touchesSealed } from "../queries/history/plan.ts";
import { createReadArchive, memoryOrArchive } from "../queries/history/read-archive.ts";
import type { HistoryDependencies } from "../queries/history/read-stretches.ts";
import type { PositionBlock, PositionReading, ReadPositions } from "../queries/positions.ts";

export interface NewestDependencies extends HistoryDependencies {
  readonly history: Pick<HistoryQueries, "ofDevice">;
  readonly readPositions: ReadPositions;
}

type Found = Promise<Result<RecordMembers | null, ServiceError>>;

/**
 * A device's newest record beside some, which are sorted, and beside rows of corrections, if it shows one of those as
 * its newest; its newest archived one, if only that is one of those. Otherwise null, and if there is none.
 */
export async function findNewestWithout(
  dependencies: NewestDependencies,
  appId: AppId,
  deviceId: DeviceId,
  leaving: Float64Array,
  caller: Caller,
): Found {
  const device = dependencies.hot.findApp(appId)?.find(deviceId) ?? null;
  if (device === null) return ok(null);
  const newestMs = hasNumber(leaving, device.newestMs) ? device.newestMs : device.archivedNewestMs;
  if (!hasNumber(leaving, newestMs)) return ok(null);
  const { corrected } = device.columns;
  const reported = leaving.filter((timeMs) => timeMs <= newestMs && !corrected.has(device.number, timeMs));
  const lastMs = reported.at(-1) ?? Number.NEGATIVE_INFINITY;
  if (lastMs < newestMs) {
    const newer = { startMs: lastMs + 1, endMs: newestMs + 1 };
    const newest = await findLastReported(dependencies, appId, deviceId, newer, caller);
    if (!newest.ok || newest.value !== null || reported.length === 0) return newest;
  }
  const between = { startMs: reported[0]!, endMs: lastMs + 1 };
  const beside = merged(reported, corrected.timesOf(device.number));
  const query = { deviceId, range: between, fields: [] } as const;
  const last = await dependencies.readPositions(appId, query, caller, () => new LastBeside(beside));
  if (!last.ok) return last;
  const endMs = last.value.value === null ? between.startMs : last.value.value + 1;
  return findLastReported(
    dependencies,
    appId,
    deviceId,
    { startMs: Number.NEGATIVE_INFINITY, endMs },
    caller,
  );
}

/** The newest record of a range that is no row of a correction; null if there is none. */
export async function findLastReported(
  dependencies: NewestDependencies,
  appId: AppId,
  deviceId: DeviceId,
  range: TimeRange,
  caller: Caller,
): Found {
  const page = { order: "desc", offset: 0, limit: 1, accuracyMetersMax: null, withDistance: false } as const;
  const query = { ...page, range, originals: true };
  const answer = await dependencies.history.ofDevice(appId, deviceId, query, caller);
  if (!answer.ok) return answer;
  const [newest] = answer.value.pages.filter(({ count }) => count > 0);
  return newest === undefined ? ok(null) : withOwner(dependencies, appId, deviceId, firstOf(newest)!, caller);
}

/** An archived record, with a mark if the device reported it itself and others show as it. */
export async function withOwner(
  dependencies: HistoryDependencies,
  appId: AppId,
  deviceId: DeviceId,
  newest: RecordMembers,
  caller: Caller,
): Promise<Result<RecordMembers, ServiceError>> {
  const { hot, archive } = dependencies;
  const timestampMs = Number(newest.timestamp);
  const isArchived = touchesSealed(archive().manifest, { startMs: timestampMs, endMs: timestampMs + 1 });
  if (!isArchived || hot.aliases(appId, deviceId).length === 0) return ok(newest);
  if (hot.corrections.find(appId)!.aliases.hasStage(deviceId)) return ok(newest); // Then what it reports is lent, too.
  const [app, hidden] = [hot.findApp(appId), hot.hiddenRows(appId, deviceId)];
  const own = await findReported(dependencies, appId, deviceId, app, hidden, timestampMs, caller);
  if (!own.ok) return own;
  return ok(own.value === null ? newest : asOwn(newest));
}

/** Two sorted lists as one. */
function merged(a: Float64Array, b: Float64Array): Float64Array {
  const instants = new Instants();
  instants.add(a);
  instants.add(b);
  return instants.times;
}

/** The newest records after the undoing of a correction, if they may not be known. */
export async function findNewestAfterUndo(
  dependencies: NewestDependencies,
  appId: AppId,
  item: HeldCorrection,
  caller: Caller,
): Promise<Result<NewestAfter, ServiceError>> {
  const { deviceId, target } = item.correction;
  const newest = await findNewestOf(dependencies, appId, item, deviceId, caller);
  if (!newest.ok) return newest;
  if (target === null || target.deviceId === deviceId)
    return ok({ newest: newest.value, newestOfTarget: null });
  const ofTarget = await findNewestOf(dependencies, appId, item, target.deviceId, caller);
  return ofTarget.ok ? ok({ newest: newest.value, newestOfTarget: ofTarget.value }) : ofTarget;
}

async function findNewestOf(
  dependencies: NewestDependencies,
  appId: AppId,
  item: HeldCorrection,
  deviceId: DeviceId,
  caller: Caller,
): Found {
  const { hot, retention, clock } = dependencies;
  const { correction, timestampMs } = item;
  const leaving = correction.target?.deviceId === deviceId ? targetTimes(item)! : new Float64Array(0);
  const remaining = await findNewestWithout(dependencies, appId, deviceId, leaving, caller);
  if (!remaining.ok || correction.deviceId !== deviceId) return remaining;
  // A record in memory shows by itself.
  const archivedMs = hot.findApp(appId)?.find(deviceId)?.archivedNewestMs ?? Number.NEGATIVE_INFINITY;
  const remainingMs = remaining.value === null ? archivedMs : Number(remaining.value.timestamp);
  const corrections = hot.corrections.find(appId)!;
  const isBack = (timeMs: number) => corrections.isHiddenOnlyBy(item, deviceId, timeMs);
  const backMs = timestampMs.findLast(isBack) ?? Number.NEGATIVE_INFINITY;
  if (backMs <= remainingMs || backMs < retention.startMs(clock.nowMs())) return remaining;
  const back = await findHidden(dependencies, appId, deviceId, backMs, caller);
  return back.ok && back.value === null ? remaining : back;
}

/** Finds the time of the last position that is not among some sorted ones. */
class LastBeside implements PositionReading<number | null> {
  readonly #hidden: Float64Array;
  #at = 0;
  #lastMs: number | null = null;

  constructor(hidden: Float64Array) {
    this.#hidden = hidden;
  }

  add({ count, timestampMs }: PositionBlock): void {
    for (let row = 0; row < count; row++) {
      const timeMs = timestampMs[row]!;
      while (this.#at < this.#hidden.length && this.#hidden[this.#at]! < timeMs) this.#at++;
      if (this.#hidden[this.#at] !== timeMs) this.#lastMs = timeMs;
    }
  }

  end() {
    return inOneStep(() => this.#lastMs);
  }
}

/** A hidden record as it was reported, by the device or one that shows as it; null if it is gone. */
async function findHidden(
  dependencies: NewestDependencies,
  appId: AppId,
  deviceId: DeviceId,
  timestampMs: number,
  caller: Caller,
): Found {
  const { hot } = dependencies;
  const ofApp = hot.corrections.find(appId)!;
  if (!ofApp.aliases.hasStage(deviceId)) {
    const app = hot.findHidden(appId);
    const own = await findReported(dependencies, appId, deviceId, app, null, timestampMs, caller);
    if (!own.ok) return own;
    if (own.value !== null) return ok(asOwn(own.value));
  }
  for (const alias of hot.aliases(appId, deviceId)) {
    const { via, deviceId: reportedId } = alias;
    if (via.slice(0, -1).some((id) => ofApp.isHidden(id, timestampMs))) continue;
    const [app, hidden] = [hot.findAliased(appId), hot.hiddenRows(appId, reportedId)];
    const match = await findReported(dependencies, appId, reportedId, app, hidden, timestampMs, caller);
    if (!match.ok) return match;
    if (match.value === null) continue;
    return ok(alias.userId === null ? match.value : { ...match.value, user_id: alias.userId });
  }
  return ok(null);
}

/** A device's record as it was reported, in memory or archived and not hidden; null if there is none. */
async function findReported(
  dependencies: HistoryDependencies,
  appId: AppId,
  deviceId: DeviceId,
  app: AppDevices | null,
  hiddenRows: HiddenRows | null,
  timestampMs: number,
  caller: Caller,
): Found {
  const { hot, archive } = dependencies;
  const range = { startMs: timestampMs, endMs: timestampMs + 1 };
  const place = () => ({ app, device: app?.find(deviceId) ?? null });
  const readArchive = createReadArchive(dependencies);
  const read = await memoryOrArchive(archive, range, {
    fromMemory() {
      const { device } = place();
      const row = device?.findRecord(timestampMs) ?? null;
      if (device === null || row === null) return null;
      const page = new PageBuilder(1, hot.dictionary);
      page.add(device, row.chunk, row.row);
      return firstOf(page.build());
    },
    fromArchive: () =>
      readArchive(appId, range, caller, async ({ session, partsOfDay }) => {
        const { app, device } = place();
        const late =
          app === null || device === null ? null : await hot.originalLateRows(app, device).whole(range);
        const parts = partsOfDay(utcDayOf(timestampMs));
        const hidden = hiddenRows?.within(range) ?? null;
        const scan = { appId, deviceId, userId: null, range, accuracyMetersMax: null, parts, late, hidden };
        return firstOf(await session.page(scan, "desc", 0, 1));
      }),
  });
  return read;
}

/** The first record of a page; null if it is empty. */
export function firstOf(page: RecordPage): RecordMembers | null {
  return page.count === 0 ? null : membersOf(pageReports(page), 0);
}
