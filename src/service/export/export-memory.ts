import type { RecordKey } from "../../hot/scan/first-records.ts";
import { readRecords } from "../../hot/scan/look-through.ts";
import type { DeviceBlocks } from "../../hot/scan/memory-scan.ts";
import { findNext, NEXT_MS_MAX, type ReadUpTo } from "../../hot/scan/next-records.ts";
import { inOneStep } from "../../lib/schedule/steps.ts";
import { pageReports } from "../../model/page-reports.ts";
import type { TimeRange } from "../../model/time/range.ts";
import { type ExportRun, inSteps, runCommand } from "./export-source.ts";

/*
 * Records of memory in order of time. To find some costs a look at each device, so many are found at once, and then
 * copied some a step.
 */

/** How a window grows in which there were fewer records than were looked for, and one in which there were none. */
const GROWTH = 2;
const EMPTY_GROWTH = 64;

/** Writes what memory has of a range; returns from when to go on: before its end where days were sealed meanwhile. */
export async function writeMemory(run: ExportRun, { startMs, endMs }: TimeRange): Promise<number> {
  const { hot, query, sizes } = run;
  const archive = run.archive();
  const { manifest } = archive;
  const devices = devicesOf(run);
  let last: ReadUpTo | null = null;
  let fromMs = startMs;
  // Devices may come with the newest records first, each older than all before it; so no window is much too long.
  let spanMs = NEXT_MS_MAX;
  while (fromMs < endMs) {
    const range = { startMs: fromMs, endMs: Math.min(endMs, fromMs + spanMs) };
    const scan = hot.scan({ devices, range, userId: query.userId, accuracyMetersMax: null });
    const keys: readonly RecordKey[] = await inSteps(run, findNext(scan, last, sizes.foundRecords));
    let written = 0;
    while (written < keys.length) {
      const some: readonly RecordKey[] = keys.slice(written, written + sizes.pageRecords);
      const page = await inSteps(
        run,
        inOneStep(() => readRecords(scan, some)),
      );
      if (archive.manifest !== manifest) return fromMs;
      if (page === null) break; // One is not the user's any more: what follows is looked for again.
      await runCommand(run, { kind: "records", batch: pageReports(page) });
      written += some.length;
      const { device, timestampMs } = some.at(-1)!;
      last = { deviceId: device.id, timestampMs };
      fromMs = timestampMs;
    }
    if (archive.manifest !== manifest) return fromMs;
    if (written < keys.length) continue;
    if (keys.length === sizes.foundRecords) spanMs = Math.max(1, GROWTH * (fromMs - range.startMs));
    else {
      fromMs = range.endMs;
      spanMs = Math.min(NEXT_MS_MAX, spanMs * (keys.length === 0 ? EMPTY_GROWTH : GROWTH));
    }
  }
  return endMs;
}

function devicesOf({ hot, query, listed }: ExportRun): DeviceBlocks {
  if (listed !== null) return listed;
  const app = hot.findApp(query.appId);
  if (app === null) return NO_DEVICES;
  const { userId } = query;
  return userId === null ? app.all : app.users.heldDevices(() => hot.dictionary.findUser(userId));
}

const NO_DEVICES: DeviceBlocks = { size: 0, blocks: () => [] };
