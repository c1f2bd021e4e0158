import type { Steps } from "../../lib/schedule/steps.ts";
import type { Order } from "../../model/time/range.ts";
import { AppDevices } from "../app-devices.ts";
import { countByTime, findByTime } from "../times/find-by-time.ts";
import { countByDevice, findByDevice } from "./find-by-device.ts";
import type { MemoryScan } from "./memory-scan.ts";
import type { Timeline } from "./page-builder.ts";
import { readTracks } from "./track-page.ts";

/** The records from an offset on, up to a limit, read in the cheapest way. */
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
    const timeline = yield* findByTime(devices, { range, order, offset, limit }, dictionary);
    if (timeline !== null) return timeline;
  }
  return yield* findByDevice(scan, order, offset, limit);
}

export function* countRecords(scan: MemoryScan): Steps<number> {
  const { devices, range } = scan;
  if (devices instanceof AppDevices && asksForAll(scan)) {
    const count = yield* countByTime(devices, range);
    if (count !== null) return count;
  }
  return yield* countByDevice(scan);
}

function asksForAll({ filter }: MemoryScan): boolean {
  const { accuracyMetersMax, user } = filter();
  return accuracyMetersMax === null && user === null;
}
