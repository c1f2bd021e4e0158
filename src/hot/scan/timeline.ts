import type { Steps } from "../../lib/schedule/steps.ts";
import type { Order } from "../../time/range.ts";
import { AllDevices } from "../times/all-devices.ts";
import { countByTime, findByTime } from "../times/find-by-time.ts";
import { DeviceRecords } from "./device-records.ts";
import { lookForCount, lookForPage } from "./look-through.ts";
import { type MemoryScan, OneDevice } from "./memory-scan.ts";
import { PageBuilder } from "./page-builder.ts";
import type { Timeline } from "./timeline-page.ts";

/** Pages and counts of the records that a query asks for, found in the way that costs least. */

/** The records from an offset on, up to a limit. */
export function* findTimeline(
  scan: MemoryScan,
  order: Order,
  offset: number,
  limit: number,
): Steps<Timeline> {
  const run = readRun(scan, order, offset, limit);
  if (run !== null) return run;
  const { devices, range, dictionary } = scan;
  if (devices instanceof AllDevices && asksForAll(scan)) {
    const found = yield* findByTime(devices, { range, order, offset, limit }, dictionary);
    if (found !== null) return found;
  }
  return yield* lookForPage(scan, order, offset, limit);
}

/** How many records match. */
export function* countRecords(scan: MemoryScan): Steps<number> {
  const { devices, range } = scan;
  if (devices instanceof AllDevices && asksForAll(scan)) {
    const count = yield* countByTime(devices, range);
    if (count !== null) return count;
  }
  return yield* lookForCount(scan);
}

function asksForAll({ filter }: MemoryScan): boolean {
  const { accuracyMetersMax, user } = filter();
  return accuracyMetersMax === null && user === null;
}

/** The same of a single device whose records all take part: a page is a run of its rows. Null where it isn't that. */
function readRun(
  { devices, range, filter, dictionary }: MemoryScan,
  order: Order,
  offset: number,
  limit: number,
): Timeline | null {
  if (!(devices instanceof OneDevice)) return null;
  const { device } = devices;
  const records = new DeviceRecords(device, range, filter(), dictionary);
  if (records.isFiltered) return null;
  const total = records.to - records.from;
  const rows = Math.max(0, Math.min(limit, total - offset));
  const page = new PageBuilder(rows, dictionary);
  if (order === "asc") {
    const from = records.from + offset;
    records.visit(from, from + rows, (chunk, row) => page.add(device, chunk, row));
  } else {
    for (let step = 0; step < rows; step++) {
      const { chunk, row } = records.at(records.to - 1 - offset - step);
      page.add(device, chunk, row);
    }
  }
  return { page: page.build(), total, devices: total > 0 ? 1 : 0, bytesRead: records.bytesRead };
}
