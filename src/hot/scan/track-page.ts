import type { Order, TimeRange } from "../../model/time/range.ts";
import { type Chunk, rowBytes, timestampAt } from "../records/chunk.ts";
import { DeviceRecords } from "./device-records.ts";
import type { MemoryScan } from "./memory-scan.ts";
import type { Timeline } from "./page-builder.ts";
import { PageBuilder } from "./page-builder.ts";

// Pages of at most 8 devices whose records all match: rows of their tracks, merged. Hardly any user has more devices.
const TRACKS_MAX = 8;

/** Null if there are more devices, or if records must be read one by one to be filtered. */
export function readTracks(scan: MemoryScan, order: Order, offset: number, limit: number): Timeline | null {
  const tracks = tracksOf(scan);
  if (tracks === null) return null;
  const total = tracks.reduce((sum, { from, to }) => sum + to - from, 0);
  const count = Math.max(0, Math.min(limit, total - offset));
  const first = order === "asc" ? offset : total - offset - count;
  const page = new PageBuilder(count, scan.dictionary);
  const filled = tracks.filter(({ from, to }) => from < to);
  if (count > 0 && filled.length === 1) addRun(page, filled[0]!, first, count, order);
  else if (count > 0) mergeRows(page, filled, scan.range, first, count, order);
  return {
    page: page.build(),
    total,
    devices: filled.length,
    bytesRead: tracks.reduce((sum, { bytesRead }) => sum + bytesRead, 0),
  };
}

/** The records of each device, in the order of devices. */
function tracksOf({ devices, range, filter, dictionary }: MemoryScan): DeviceRecords[] | null {
  if (devices.size > TRACKS_MAX) return null;
  const tracks: DeviceRecords[] = [];
  for (const block of devices.blocks()) {
    if (block.length === 0) return null; // Sorting the list takes steps.
    for (const device of block) {
      const records = new DeviceRecords(device, range, filter(), dictionary);
      if (records.isFiltered) return null;
      tracks.push(records);
    }
  }
  return tracks;
}

/** Adds rows of one track from an index on, in half the time of merging. */
function addRun(page: PageBuilder, records: DeviceRecords, first: number, count: number, order: Order): void {
  const { device } = records;
  const from = records.from + first;
  if (order === "asc") records.visit(from, from + count, (chunk, row) => page.add(device, chunk, row));
  for (let index = from + count - 1; order === "desc" && index >= from; index--) {
    const { chunk, row } = records.at(index);
    page.add(device, chunk, row);
  }
}

/** Adds the rows `first` to before `first + count` of the order of time, then of devices, or the reverse. */
function mergeRows(
  page: PageBuilder,
  tracks: readonly DeviceRecords[],
  range: TimeRange,
  first: number,
  count: number,
  order: Order,
): void {
  const heads = tracks.map((records) => new Head(records));
  const start = order === "asc" ? first : first + count;
  let before = 0;
  if (start > 0) {
    const instantMs = findInstant(tracks, range, start);
    for (const head of heads) before += head.moveTo(head.records.countBefore(instantMs));
  }
  for (; before < start; before++) earliest(heads).step(1);
  if (order === "desc") for (const head of heads) head.step(-1);
  for (let added = 0; added < count; added++) {
    const head = order === "asc" ? earliest(heads) : latest(heads);
    page.add(head.records.device, head.chunk, head.row);
    head.step(order === "asc" ? 1 : -1);
  }
}

function earliest(heads: readonly Head[]): Head {
  let next = heads[0]!;
  for (const head of heads) if (head.timestampMs < next.timestampMs) next = head;
  return next;
}

function latest(heads: readonly Head[]): Head {
  let next = heads[0]!;
  for (const head of heads) if (head.timestampMs >= next.timestampMs) next = head;
  return next;
}

/** The last instant with at most `recordsMax` records before it. At the instant itself each track has at most one. */
function findInstant(
  tracks: readonly DeviceRecords[],
  { startMs, endMs }: TimeRange,
  recordsMax: number,
): number {
  let low = startMs;
  let high = endMs;
  while (high - low > 1) {
    const middle = Math.floor((low + high) / 2);
    const before = tracks.reduce((sum, records) => sum + records.countBefore(middle), 0);
    if (before <= recordsMax) low = middle;
    else high = middle;
  }
  return low;
}

/** Neither it nor a row beside it is in any chunk. */
const NO_ROW = -2;

/** A cursor on the records of one track, which has some in the range. */
class Head {
  readonly records: DeviceRecords;
  chunk: Chunk;
  /** `NO_ROW` behind the last record and before the first. */
  row: number;
  /** Infinity behind the last record, -Infinity before the first. */
  timestampMs: number;
  #index: number;

  constructor(records: DeviceRecords) {
    this.records = records;
    this.#index = records.from;
    ({ chunk: this.chunk, row: this.row } = records.at(records.from));
    this.timestampMs = timestampAt(this.chunk, this.row);
  }

  /** Moves to a record, counted from the first, or behind the last; returns that count. */
  moveTo(count: number): number {
    this.#index = this.records.from + count;
    this.#find();
    return count;
  }

  /** Moves to the next record, or the one before. */
  step(by: 1 | -1): void {
    this.#index += by;
    this.row += by;
    const isWithin = this.#index >= this.records.from && this.#index < this.records.to;
    if (isWithin && this.row >= 0 && this.row < this.chunk.count) this.#read();
    else this.#find();
  }

  #find(): void {
    const { from, to } = this.records;
    this.row = NO_ROW;
    if (this.#index < from) this.timestampMs = Number.NEGATIVE_INFINITY;
    else if (this.#index >= to) this.timestampMs = Number.POSITIVE_INFINITY;
    else {
      ({ chunk: this.chunk, row: this.row } = this.records.at(this.#index));
      this.timestampMs = timestampAt(this.chunk, this.row);
    }
  }

  #read(): void {
    this.records.bytesRead += rowBytes(this.chunk);
    this.timestampMs = timestampAt(this.chunk, this.row);
  }
}
