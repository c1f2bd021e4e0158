import type { Steps } from "../../lib/schedule/steps.ts";
import type { RecordPage } from "../../model/record-page.ts";
import type { Order, TimeRange } from "../../model/time/range.ts";
import { timestampAt } from "../records/chunk.ts";
import { DeviceRecords } from "./device-records.ts";
import { FirstRecords, type RecordKey } from "./first-records.ts";
import { type MemoryScan, visitRecords } from "./memory-scan.ts";
import { PageBuilder, type Timeline } from "./page-builder.ts";

// Reads a page of many devices' records without an index by time: each device is visited once, and the first records
// are kept. A deep page is searched for in spans of time, whose records are counted first. If that takes several turns,
// a report that comes meanwhile may or may not be seen; the page is sorted, and every record on it exists and matches.

/** The end of a page up to which its records are collected directly. For deeper pages, counting by time is cheaper. */
const KEPT_MAX = 4096;

/** The sums over the devices of a scan. */
class Tally {
  total = 0;
  devices = 0;
  bytesRead = 0;
  #last: unknown = null;

  add({ device, bytesRead }: DeviceRecords, matching: number): void {
    this.bytesRead += bytesRead;
    this.total += matching;
    if (matching === 0 || device === this.#last) return;
    this.#last = device;
    this.devices++;
  }
}

/** The records from an offset on, up to a limit. */
export function* findByDevice(
  scan: MemoryScan,
  order: Order,
  offset: number,
  limit: number,
): Steps<Timeline> {
  for (;;) {
    const tally = new Tally();
    const keys = yield* findKeys(scan, scan.range, order, offset, limit, tally);
    const page = readRecords(scan, keys);
    // A record that changed or left memory since it was found may not belong on the page any more: search again.
    if (page !== null)
      return { page, total: tally.total, devices: tally.devices, bytesRead: tally.bytesRead };
  }
}

export function* countByDevice(scan: MemoryScan): Steps<number> {
  const tally = new Tally();
  yield* visitRecords(scan, scan.range, false, (records, to) =>
    tally.add(records, records.count(records.from, to)),
  );
  return tally.total;
}

function* findKeys(
  scan: MemoryScan,
  range: TimeRange,
  order: Order,
  offset: number,
  limit: number,
  tally: Tally,
): Steps<RecordKey[]> {
  if (offset + limit <= KEPT_MAX)
    return (yield* keepFirst(scan, range, order, offset + limit, tally)).slice(offset);
  const bins = new TimeBins(range);
  yield* visitRecords(scan, range, true, (records, to) => {
    let matching = 0;
    records.visit(records.from, to, (chunk, row) => {
      bins.add(timestampAt(chunk, row));
      matching++;
    });
    tally.add(records, matching);
  });
  const bin = bins.find(order, offset);
  if (bin === null) return [];
  const within = {
    offset: offset - bin.before,
    limit: Math.min(limit, bin.before + bin.count - offset),
  };
  const none = new Tally(); // Everything has been counted.
  const keys =
    bin.span.endMs - bin.span.startMs === 1
      ? yield* keepOfInstant(scan, bin.span, order, bin.count, within)
      : yield* findKeys(scan, bin.span, order, within.offset, within.limit, none);
  if (keys.length < limit && bin.rest.startMs < bin.rest.endMs) {
    keys.push(...(yield* findKeys(scan, bin.rest, order, 0, limit - keys.length, none)));
  }
  return keys;
}

function* keepFirst(
  scan: MemoryScan,
  range: TimeRange,
  order: Order,
  count: number,
  tally: Tally,
): Steps<RecordKey[]> {
  const first = new FirstRecords(order, count);
  yield* visitRecords(scan, range, false, (records, to) => tally.add(records, first.addRecords(records, to)));
  return first.inOrder();
}

/** Some of the `count` records of one millisecond. They come in the order of devices. */
function* keepOfInstant(
  scan: MemoryScan,
  instant: TimeRange,
  order: Order,
  count: number,
  { offset, limit }: { readonly offset: number; readonly limit: number },
): Steps<RecordKey[]> {
  const from = order === "asc" ? offset : count - offset - limit;
  const keys: RecordKey[] = [];
  let index = 0;
  yield* visitRecords(scan, instant, false, (records, to) => {
    if (records.count(records.from, to) === 0) return;
    if (index >= from && index < from + limit)
      keys.push({ device: records.device, timestampMs: instant.startMs });
    index++;
  });
  return order === "asc" ? keys : keys.reverse();
}

/** Copies records; null if one no longer exists or matches. */
export function readRecords(scan: MemoryScan, keys: readonly RecordKey[]): RecordPage | null {
  const { dictionary } = scan;
  const filter = scan.filter();
  const page = new PageBuilder(keys.length, dictionary);
  for (const { device, timestampMs } of keys) {
    const range = { startMs: timestampMs, endMs: timestampMs + 1 };
    const records = new DeviceRecords(device, range, filter, dictionary);
    if (records.count(records.from, records.to) === 0) return null;
    const { chunk, row } = records.at(records.from);
    page.add(device, chunk, row);
  }
  return page.build();
}

/** Divides a day into spans of 21 s, and those into milliseconds in a second round. */
const BINS_MAX = 4096;

/** The span that contains the instant at an offset. */
export interface TimeBin {
  readonly span: TimeRange;
  readonly count: number;
  /** How many instants come before it, in the given order. */
  readonly before: number;
  /** The part of the range behind it, in the given order. */
  readonly rest: TimeRange;
}

/** Counts instants by spans of equal length. */
class TimeBins {
  readonly #range: TimeRange;
  readonly #spanMs: number;
  readonly #counts: Uint32Array;

  constructor(range: TimeRange) {
    this.#range = range;
    this.#spanMs = Math.ceil((range.endMs - range.startMs) / BINS_MAX);
    this.#counts = new Uint32Array(Math.ceil((range.endMs - range.startMs) / this.#spanMs));
  }

  add(timestampMs: number): void {
    this.#counts[Math.floor((timestampMs - this.#range.startMs) / this.#spanMs)]!++;
  }

  /** The span that contains the instant at an offset; null if there are fewer instants. */
  find(order: Order, offset: number): TimeBin | null {
    const { startMs, endMs } = this.#range;
    let before = 0;
    for (let step = 0; step < this.#counts.length; step++) {
      const bin = order === "asc" ? step : this.#counts.length - 1 - step;
      const count = this.#counts[bin]!;
      if (before + count > offset) {
        const fromMs = startMs + bin * this.#spanMs;
        const span = { startMs: fromMs, endMs: Math.min(endMs, fromMs + this.#spanMs) };
        const rest = order === "asc" ? { startMs: span.endMs, endMs } : { startMs, endMs: span.startMs };
        return { span, count, before, rest };
      }
      before += count;
    }
    return null;
  }
}
