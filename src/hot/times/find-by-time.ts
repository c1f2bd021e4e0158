import type { Steps } from "../../lib/schedule/steps.ts";
import { compareUtf8 } from "../../lib/text/utf8.ts";
import type { Order, TimeRange } from "../../model/time/range.ts";
import type { AppDevices } from "../app-devices.ts";
import type { Device } from "../devices/device.ts";
import { rowBytes } from "../records/chunk.ts";
import type { Dictionary } from "../records/dictionary.ts";
import type { RecordKey } from "../scan/first-records.ts";
import type { Timeline } from "../scan/page-builder.ts";
import { PageBuilder } from "../scan/page-builder.ts";
import type { DayEntry, DayIndex } from "./day-index.ts";
import { DeviceSet } from "./device-set.ts";

// Pages and counts of all records of an app in a range, read from its index by time, which is built on first use.
// The cost depends on the page and hardly on the range.

/** Devices of one instant that are sorted by id in one go, in some tenths of a millisecond. */
const SORTED_MAX = 1024;
/** Blocks of devices read per step. */
const STEP_BLOCKS = 64;

export interface PageOptions {
  readonly range: TimeRange;
  readonly order: Order;
  readonly offset: number;
  readonly limit: number;
}

/** A page of the range; null if the range has sealed days, whose records may be about to leave memory. */
export function* findByTime(
  app: AppDevices,
  { range, order, offset, limit }: PageOptions,
  dictionary: Dictionary,
): Steps<Timeline | null> {
  const devices = yield* countDevices(app, range);
  for (;;) {
    const spans = yield* findSpans(app, range);
    if (spans === null || devices === null) return null;
    const total = countOf(spans);
    const end = order === "asc" ? offset + limit : total - offset;
    const first = order === "asc" ? offset : end - limit;
    const keys = yield* findKeys(app, spans, Math.max(0, first), Math.min(total, end));
    const copied = copyRecords(order === "asc" ? keys : keys.reverse(), dictionary);
    // If it took several turns, a seal may have removed a record: read again.
    if (copied !== null) return { ...copied, total, devices };
  }
}

/** How many records lie in the range; null if it has sealed days. */
export function* countByTime(app: AppDevices, range: TimeRange): Steps<number | null> {
  const spans = yield* findSpans(app, range);
  return spans === null ? null : countOf(spans);
}

/** Records `from` to before `to` of a day. */
interface Span {
  readonly day: DayIndex;
  readonly from: number;
  readonly to: number;
}

function countOf(spans: readonly Span[]): number {
  return spans.reduce((sum, { from, to }) => sum + to - from, 0);
}

/** The spans of the range's days, in order of time; valid during the step in which it returns. */
function* findSpans({ times }: AppDevices, range: TimeRange): Steps<Span[] | null> {
  for (;;) {
    const days = times.days(range);
    const next = days?.find(({ isWhole }) => !isWhole);
    if (next === undefined) {
      const spans = days?.map((day) => {
        return { day, from: day.countBefore(range.startMs), to: day.countBefore(range.endMs) };
      });
      return spans ?? null;
    }
    next.proceed();
    yield;
  }
}

function* countDevices(app: AppDevices, range: TimeRange): Steps<number | null> {
  const spans = yield* findSpans(app, range);
  if (spans === null) return null;
  const [first] = spans;
  if (spans.length === 1 && first!.day.isWithin(range)) return first!.day.deviceCount;
  const devices = new DeviceSet();
  for (const { day } of spans) yield* day.addDevices(range, devices);
  return devices.size;
}

/** The keys of records `from` to before `to` of all spans together, sorted. */
function* findKeys(app: AppDevices, spans: readonly Span[], from: number, to: number): Steps<RecordKey[]> {
  const keys: RecordKey[] = [];
  let before = 0;
  for (const span of spans) {
    const first = span.from + Math.max(0, from - before);
    const end = Math.min(span.to, span.from + to - before);
    if (first < end) keys.push(...(yield* findKeysOfDay(app, span.day, first, end)));
    before += span.to - span.from;
  }
  return keys;
}

/** The index does not sort by id, so records of one instant are sorted here. */
function* findKeysOfDay(app: AppDevices, day: DayIndex, from: number, to: number): Steps<RecordKey[]> {
  const entries = day.entries(from, to);
  const keys: RecordKey[] = [];
  const skip = from - day.countBefore(entries[0]!.timestampMs); // Records of the first instant that precede the page.
  for (let start = 0, end = 0; start < entries.length; start = end) {
    const { timestampMs } = entries[start]!;
    while (end < entries.length && entries[end]!.timestampMs === timestampMs) end++;
    const mayBeCut = start === 0 || end === entries.length;
    const devices = mayBeCut
      ? yield* findOfInstant(app, day, timestampMs, start === 0 ? skip : 0, end - start)
      : inOrderOfIds(app, entries.slice(start, end));
    for (const device of devices) keys.push({ device, timestampMs });
  }
  return keys;
}

/** Some of the devices with a record at an instant, in order of ids. */
function* findOfInstant(
  app: AppDevices,
  day: DayIndex,
  timestampMs: number,
  skip: number,
  count: number,
): Steps<Device[]> {
  const [from, to] = [day.countBefore(timestampMs), day.countBefore(timestampMs + 1)];
  if (to - from <= SORTED_MAX) return inOrderOfIds(app, day.entries(from, to)).slice(skip, skip + count);
  const { list, table } = app;
  const ofInstant = new DeviceSet();
  yield* day.addDevices({ startMs: timestampMs, endMs: timestampMs + 1 }, ofInstant);
  const matches: Device[] = [];
  let [passed, blocks] = [0, 0];
  while (!list.sortPending()) yield;
  const next = list.reader();
  for (let block = next(); block !== null; block = next()) {
    for (const number of block.numbers) {
      if (!ofInstant.has(number) || passed++ < skip) continue;
      if (matches.push(table.byNumber(number)) === count) return matches;
    }
    if (++blocks % STEP_BLOCKS === 0) yield;
  }
  return matches;
}

/** Leaves out devices that are gone, after a seal of the day. */
function inOrderOfIds({ table }: AppDevices, entries: readonly DayEntry[]): Device[] {
  const devices = entries.map(({ device }) => table.findByNumber(device)).filter((device) => device !== null);
  return devices.length === 1 ? devices : devices.sort((a, b) => compareUtf8(a.id, b.id));
}

/** Null if a record no longer exists. */
function copyRecords(
  keys: readonly RecordKey[],
  dictionary: Dictionary,
): Pick<Timeline, "page" | "bytesRead"> | null {
  const page = new PageBuilder(keys.length, dictionary);
  let bytesRead = 0;
  for (const { device, timestampMs } of keys) {
    const record = device.findRecord(timestampMs);
    if (record === null) return null;
    page.add(device, record.chunk, record.row);
    bytesRead += rowBytes(record.chunk);
  }
  return { page: page.build(), bytesRead };
}
