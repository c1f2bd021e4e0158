import { findSealed } from "../../archive/manifest.ts";
import type { OverlayRows } from "../../archive/read/archive-scan.ts";
import type { AppDevices } from "../../hot/app-devices.ts";
import type { DeviceId } from "../../model/ids.ts";
import { daysWithin } from "../queries/history/plan.ts";
import { type DeviceGroup, devicesBehind } from "./export-devices.ts";
import { CHANGED, type ExportRun, inSteps, readSealed } from "./export-source.ts";

/*
 * Exports all records device by device. Devices are read in groups: one device at a time would open all files too
 * often, and all records together are too many to sort.
 */

const GROUP_DEVICES_MAX = 4096;

export async function exportByDevice(run: ExportRun): Promise<void> {
  const app = run.hot.findApp(run.query.appId);
  if (app === null) return;
  for (let afterId: DeviceId | null = null; ; ) {
    const group = await nextGroup(run, app, afterId);
    if ((await writeGroup(run, app, afterId, group)) === CHANGED) continue;
    if (group.lastId === null) return;
    afterId = group.lastId;
  }
}

/** As many devices as have a few hundred thousand records together, if all have equally many. */
async function nextGroup(run: ExportRun, app: AppDevices, afterId: DeviceId | null): Promise<DeviceGroup> {
  const { manifest } = run.archive();
  let rows = app.recordCount;
  for (const day of daysWithin(run.range, manifest.days.keys()))
    for (const { apps } of manifest.days.get(day)!.parts) rows += apps.get(app.appId) ?? 0;
  const rowsPerDevice = Math.max(1, rows / Math.max(1, app.deviceCount));
  const max = Math.max(1, Math.min(GROUP_DEVICES_MAX, Math.floor(run.sizes.sortedRowsMax / rowsPerDevice)));
  if (run.listed !== null) return run.listed.behind(afterId, max);
  return inSteps(run, devicesBehind(app, afterId, max));
}

/** Rows of memory are laid over the archive's records, whether or not their day is archived. */
async function writeGroup(run: ExportRun, app: AppDevices, afterId: DeviceId | null, group: DeviceGroup) {
  const { manifest } = run.archive();
  const sealed = daysWithin(run.range, [...manifest.days.keys(), ...manifest.expired.keys()]);
  const days = sealed.filter((day) => findSealed(manifest, day) !== undefined);
  const late: OverlayRows[] = [];
  for (const device of group.devices) {
    const rows = await run.hot.lateRows(app, device).whole(run.range);
    if (rows !== null) late.push(rows);
  }
  return readSealed(run, {
    manifest,
    days,
    range: run.range,
    afterDeviceId: afterId,
    lastDeviceId: group.lastId,
    late,
  });
}
