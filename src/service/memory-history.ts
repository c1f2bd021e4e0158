import type { Device } from "../hot/device.ts";
import type { HotStore } from "../hot/hot-store.ts";
import { PageBuilder } from "../hot/page-builder.ts";
import { type RecordFilter, Slice } from "../hot/slice.ts";
import { fillPage } from "../hot/timeline.ts";
import type { RecordPage } from "../model/record-page.ts";
import type { Order, TimeRange } from "../time/range.ts";
import type { HistoryAnswer, HistoryQuestion } from "./history.ts";
import { PathMeter } from "./path-meter.ts";

/** The records in memory of some devices that lie in a range and pass a filter. Void once memory changes. */
export interface MemoryStretch {
  /** Of devices with any matching record, in order of their ids. */
  readonly slices: readonly Slice[];
  /** Matching records. */
  readonly total: number;
  /** The records from an offset on, up to a limit. */
  page(order: Order, offset: number, limit: number): RecordPage;
  addPath(meter: PathMeter): void;
  /** Bytes of records that were read so far. */
  bytesRead(): number;
}

export function readMemory(
  hot: HotStore,
  devices: readonly Device[],
  range: TimeRange,
  filter: RecordFilter,
): MemoryStretch {
  const slices: Slice[] = [];
  let total = 0;
  for (const device of devices) {
    const slice = new Slice(device, range, filter, hot.dictionary);
    const matching = slice.count(slice.from, slice.to);
    if (matching > 0) slices.push(slice);
    total += matching;
  }
  return {
    slices,
    total,
    page(order, offset, limit) {
      const rowsAhead = Math.max(0, total - offset);
      const page = new PageBuilder(Math.min(limit, rowsAhead), hot.dictionary);
      if (rowsAhead > 0) fillPage(page, slices, order, offset);
      return page.build();
    },
    addPath(meter) {
      for (const slice of slices) {
        const { id } = slice.device;
        slice.visitPositions((latitude, longitude) => meter.add(id, latitude, longitude));
      }
    },
    bytesRead: () => slices.reduce((bytes, slice) => bytes + slice.bytesRead, 0),
  };
}

/** The whole answer where memory has every record of the range. */
export function answerFromMemory(hot: HotStore, question: HistoryQuestion): HistoryAnswer {
  const { query, range, inMemory, devicesQueried } = question;
  const stretch = readMemory(hot, inMemory, range, memoryFilter(hot, question));
  const page = stretch.page(query.order, query.offset, query.limit);
  const meter = new PathMeter();
  if (query.withDistance) stretch.addPath(meter);
  return {
    pages: [page],
    count: page.count,
    hasMore: query.offset + page.count < stretch.total,
    total: stretch.total,
    devicesMatching: stretch.slices.length,
    devicesQueried,
    pathMeters: query.withDistance ? meter.meters() : null,
    bytesRead: stretch.bytesRead(),
    source: "hot",
    isIncomplete: false,
  };
}

/** What a question filters by, in memory's terms. */
export function memoryFilter(hot: HotStore, { query, userId }: HistoryQuestion): RecordFilter {
  const user = userId === null ? null : hot.dictionary.findUser(userId);
  return { accuracyMetersMax: query.accuracyMetersMax, user };
}
