import type { Steps } from "../../lib/schedule/steps.ts";
import type { RecordPage } from "../../model/record-page.ts";
import type { Order, TimeRange } from "../../model/time/range.ts";
import { timestampAt } from "../records/chunk.ts";
import { DeviceRecords } from "./device-records.ts";
import { FirstRecords, type RecordKey } from "./first-records.ts";
import { type MemoryScan, visitRecords } from "./memory-scan.ts";
import { PageBuilder, type Timeline } from "./page-builder.ts";

/*
 * A page of many devices' records without a list of them: each device is looked at once, and what comes first is kept.
 * A deep page is looked for in spans of time, which are counted first. Where looking takes several turns, a report
 * that comes meanwhile is seen or not; the page is in order, and every record on it is there and matches.
 */

/** Records up to the end of a page that are kept while looking; beyond it, counting them by time is cheaper. */
const KEPT_MAX = 4096;

/** What looking at all devices of a scan comes to. */
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
export function* lookForPage(scan: MemoryScan, order: Order, offset: number, limit: number): Steps<Timeline> {
  for (;;) {
    const tally = new Tally();
    const keys = yield* findKeys(scan, scan.range, order, offset, limit, tally);
    const page = readRecords(scan, keys);
    // What changed since it was found, or left memory, may not belong there any more.
    if (page !== null)
      return { page, total: tally.total, devices: tally.devices, bytesRead: tally.bytesRead };
  }
}

/** How many records match. */
export function* lookForCount(scan: MemoryScan): Steps<number> {
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
  const found = bins.find(order, offset);
  if (found === null) return [];
  const within = {
    offset: offset - found.before,
    limit: Math.min(limit, found.before + found.count - offset),
  };
  const none = new Tally(); // Everything has been counted.
  const keys =
    found.span.endMs - found.span.startMs === 1
      ? yield* keepOfInstant(scan, found.span, order, found.count, within)
      : yield* findKeys(scan, found.span, order, within.offset, within.limit, none);
  if (keys.length < limit && found.rest.startMs < found.rest.endMs) {
    keys.push(...(yield* findKeys(scan, found.rest, order, 0, limit - keys.length, none)));
  }
  return keys;
}

/** The first records in order. */
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

/** Of the records of one millisecond, of which there are so many. They come in the order of devices. */
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

/** Copies records; null where one is not there any more, or doesn't match. */
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

/** A day in spans of 21 s, and those in milliseconds in a second round. */
const BINS_MAX = 4096;

/** Where the instant at an offset lies. */
export interface BinFound {
  readonly span: TimeRange;
  readonly count: number;
  /** How many come before it, in order. */
  readonly before: number;
  /** What comes behind it, in order. */
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

  /** The span that holds the instant at an offset; null where there are fewer. */
  find(order: Order, offset: number): BinFound | null {
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
