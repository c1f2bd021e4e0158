import { findSealed } from "../../archive/manifest.ts";
import type { OverlayRows } from "../../archive/read/archive-scan.ts";
import { compareUtf8 } from "../../lib/text/utf8.ts";
import type { DeviceAlias } from "../../model/device-alias.ts";
import type { DeviceId } from "../../model/ids.ts";
import { daysWithin } from "../queries/history/plan.ts";
import { type DeviceGroup, devicesBehind, lateRowsOf, placesOf } from "./export-devices.ts";
import { showsNames } from "./export-formats.ts";
import { CHANGED, type ExportRun, inSteps, readSealed, runCommand, whereabouts } from "./export-source.ts";

/*
 * Exports all records device by device. Devices are read in groups: one device at a time would open all files too
 * often, and all records together are too many to sort.
 */

const GROUP_DEVICES_MAX = 4096;

export async function exportByDevice(run: ExportRun): Promise<void> {
  for (let afterId: DeviceId | null = null; ; ) {
    const group = await nextGroup(run, afterId);
    await sendNames(run, group);
    if ((await writeGroup(run, afterId, group)) === CHANGED) continue;
    if (group.lastId === null) return;
    afterId = group.lastId;
  }
}

/** As many devices as have a few hundred thousand records together, if all have equally many. */
async function nextGroup(run: ExportRun, afterId: DeviceId | null): Promise<DeviceGroup> {
  const { manifest } = run.archive();
  const { appId } = run.query;
  const places = placesOf(run);
  let rows = places.reduce((sum, { recordCount }) => sum + recordCount, 0);
  for (const day of daysWithin(run.range, manifest.days.keys()))
    for (const { apps } of manifest.days.get(day)!.parts) rows += apps.get(appId) ?? 0;
  const devices = places.reduce((sum, { deviceCount }) => sum + deviceCount, 0);
  const rowsPerDevice = Math.max(1, rows / Math.max(1, devices));
  const max = Math.max(1, Math.min(GROUP_DEVICES_MAX, Math.floor(run.sizes.sortedRowsMax / rowsPerDevice)));
  return inSteps(run, devicesBehind(run, afterId, max));
}

/** Sends the names of a group's devices before their records. */
async function sendNames(run: ExportRun, { ids }: DeviceGroup): Promise<void> {
  const { appId, format, options } = run.query;
  const { profiles } = run.hot;
  if (!showsNames(format, options) || profiles.countOf(appId) === 0) return;
  const names = ids.flatMap((id): [string, string][] => {
    const name = profiles.find(appId, id)?.name ?? null;
    return name === null || name === id ? [] : [[id, name]];
  });
  if (names.length > 0) await runCommand(run, { kind: "names", names });
}

/** Rows of memory are laid over the archive's records, whether or not their day is archived. */
async function writeGroup(run: ExportRun, afterId: DeviceId | null, { ids, lastId }: DeviceGroup) {
  const at = whereabouts(run);
  const { manifest } = at;
  const sealed = daysWithin(run.range, [...manifest.days.keys(), ...manifest.expired.keys()]);
  const days = sealed.filter((day) => findSealed(manifest, day) !== undefined);
  const late: OverlayRows[] = [];
  for (const id of ids) {
    const rows = (await lateRowsOf(run, id)?.whole(run.range)) ?? null;
    if (rows !== null) late.push(rows);
  }
  const aliases = aliasesOf(run, afterId, lastId);
  return readSealed(run, {
    at,
    days,
    range: run.range,
    afterDeviceId: afterId,
    lastDeviceId: lastId,
    late,
    hidden: [...hiddenKeys(run, afterId, lastId, aliases)],
    aliases,
  });
}

/** The devices that show as others, if one of the two is among those of a group. */
function aliasesOf(
  { hot, query, listed }: ExportRun,
  afterId: DeviceId | null,
  lastId: DeviceId | null,
): readonly DeviceAlias[] {
  if (query.originals) return [];
  const [only] = listed?.length === 1 ? listed : [];
  if (only !== undefined) return hot.aliases(query.appId, only);
  const isWithin = (id: DeviceId) =>
    (afterId === null || compareUtf8(id, afterId) > 0) && (lastId === null || compareUtf8(id, lastId) <= 0);
  return hot
    .aliases(query.appId, null)
    .filter(({ deviceId, shownId }) => isWithin(deviceId) || isWithin(shownId));
}

/** What corrections hide of the devices of a group, and of those that show as them. */
function* hiddenKeys(
  { hot, query, range }: ExportRun,
  afterId: DeviceId | null,
  lastId: DeviceId | null,
  aliases: readonly DeviceAlias[],
): Iterable<OverlayRows> {
  if (query.originals) return;
  const { appId } = query;
  yield* hot.hiddenRows(appId, null)?.ofDevices(range, afterId, lastId) ?? [];
  for (const { deviceId } of aliases) {
    const keys = hot.hiddenRows(appId, deviceId)?.within(range) ?? null;
    if (keys !== null) yield keys;
  }
}
