import type { HotStore } from "../../hot/hot-store.ts";
import { type MemoryScan, visitSlices } from "../../hot/scan/memory-scan.ts";
import { findTimeline } from "../../hot/scan/timeline.ts";
import type { Steps } from "../../lib/schedule/in-turns.ts";
import type { DeviceId } from "../../model/ids.ts";
import { lastingPage } from "../../model/lasting-page.ts";
import type { TimeRange } from "../../time/range.ts";
import type { HistoryAnswer } from "./history-answer.ts";
import type { HistoryScan } from "./history-scan.ts";
import { PathMeter } from "./path-meter.ts";

/** The whole answer where memory has every record of the range. */
export function* answerFromMemory(hot: HotStore, scan: HistoryScan): Steps<HistoryAnswer> {
  const { query } = scan;
  const inMemory = memoryScan(hot, scan, scan.range);
  const meter = new PathMeter();
  const pathBytes = query.withDistance ? yield* addPaths(inMemory, meter) : 0;
  const paths = query.withDistance ? yield* meter.lengths() : null;
  const devicesQueried = yield* scan.countQueried();
  // Last, since the page is good until reports come in.
  const timeline = yield* findTimeline(inMemory, query.order, query.offset, query.limit);
  const { page, total, devices, bytesRead } = timeline;
  return {
    pages: [page],
    count: page.count,
    hasMore: query.offset + page.count < total,
    total,
    devicesMatching: devices,
    devicesQueried,
    paths,
    bytesRead: bytesRead + pathBytes,
    source: "hot",
    isIncomplete: false,
  };
}

/** The same answer where it has to wait for anything. */
export function lastingAnswer(answer: HistoryAnswer): HistoryAnswer {
  return { ...answer, pages: answer.pages.map(lastingPage) };
}

/** What a query asks of memory, in a stretch of its range. */
export function memoryScan(
  hot: HotStore,
  { devices, query, userId }: HistoryScan,
  range: TimeRange,
): MemoryScan {
  const filter = () => ({
    accuracyMetersMax: query.accuracyMetersMax,
    user: userId === null ? null : hot.dictionary.findUser(userId),
  });
  return { devices, range, filter, dictionary: hot.dictionary };
}

/** Adds the devices that have a matching record. */
export function* addDevices(scan: MemoryScan, devices: Set<DeviceId>): Steps<void> {
  yield* visitSlices(scan, scan.range, false, (slice, to) => {
    if (slice.count(slice.from, to) > 0) devices.add(slice.device.id);
  });
}

/** Adds all matching positions; returns the bytes of their records. */
export function* addPaths(scan: MemoryScan, meter: PathMeter): Steps<number> {
  let bytes = 0;
  yield* visitSlices(scan, scan.range, true, (slice, to) => {
    const { id } = slice.device;
    slice.visitPlaces(slice.from, to, (latitude, longitude) => meter.add(id, latitude, longitude));
    bytes += slice.bytesRead;
  });
  return bytes;
}
