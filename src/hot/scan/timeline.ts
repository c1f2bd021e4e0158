import type { Steps } from "../../lib/schedule/steps.ts";
import type { Order } from "../../model/time/range.ts";
import { AppDevices } from "../app-devices.ts";
import { countByTime, findByTime } from "../times/find-by-time.ts";
import { lookForCount, lookForPage } from "./look-through.ts";
import type { MemoryScan } from "./memory-scan.ts";
import type { Timeline } from "./page-builder.ts";
import { readTracks } from "./track-page.ts";

/** Pages and counts of the records that a query asks for, found in the way that costs least. */

/** The records from an offset on, up to a limit. */
export function* findTimeline(
  scan: MemoryScan,
  order: Order,
  offset: number,
  limit: number,
): Steps<Timeline> {
  const read = readTracks(scan, order, offset, limit);
  if (read !== null) return read;
  const { devices, range, dictionary } = scan;
  if (devices instanceof AppDevices && asksForAll(scan)) {
    const found = yield* findByTime(devices, { range, order, offset, limit }, dictionary);
    if (found !== null) return found;
  }
  return yield* lookForPage(scan, order, offset, limit);
}

/** How many records match. */
export function* countRecords(scan: MemoryScan): Steps<number> {
  const { devices, range } = scan;
  if (devices instanceof AppDevices && asksForAll(scan)) {
    const count = yield* countByTime(devices, range);
    if (count !== null) return count;
  }
  return yield* lookForCount(scan);
}

function asksForAll({ filter }: MemoryScan): boolean {
  const { accuracyMetersMax, user } = filter();
  return accuracyMetersMax === null && user === null;
}
