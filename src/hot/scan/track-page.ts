import type { Order, TimeRange } from "../../model/time/range.ts";
import type { Device } from "../devices/device.ts";
import { timestampAt } from "../records/chunk.ts";
import type { RowRef } from "../records/long-track.ts";
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
  if (tracks.length === 1) addRun(page, tracks[0]!, first, count, order);
  else if (count > 0) {
    const rows = mergeRows(tracks, scan.range, first, count);
    if (order === "desc") rows.reverse();
    for (const { device, chunk, row } of rows) page.add(device, chunk, row);
  }
  return {
    page: page.build(),
    total,
    devices: tracks.filter(({ from, to }) => from < to).length,
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

interface DeviceRow extends RowRef {
  readonly device: Device;
}

/** The rows `first` to before `first + count` in order of time, then of devices. */
function mergeRows(
  tracks: readonly DeviceRecords[],
  range: TimeRange,
  first: number,
  count: number,
): DeviceRow[] {
  const heads = tracks.map((records) => new Head(records));
  let before = 0;
  if (first > 0) {
    const instantMs = findInstant(tracks, range, first);
    for (const head of heads) before += head.skip(head.records.countBefore(instantMs));
  }
  const rows: DeviceRow[] = [];
  for (; before < first + count; before++) {
    let next = heads[0]!;
    for (const head of heads) if (head.timestampMs < next.timestampMs) next = head;
    if (before >= first) rows.push(next.row());
    next.skip(1);
  }
  return rows;
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

/** A cursor on the records of one track. */
class Head {
  readonly records: DeviceRecords;
  #index: number;
  #row: RowRef | null = null;
  timestampMs = 0;

  constructor(records: DeviceRecords) {
    this.records = records;
    this.#index = records.from;
    this.skip(0);
  }

  row(): DeviceRow {
    const { chunk, row } = this.#row!;
    return { device: this.records.device, chunk, row };
  }

  /** Skips `count` records and returns `count`. */
  skip(count: number): number {
    this.#index += count;
    this.#row = this.#index < this.records.to ? this.records.at(this.#index) : null;
    this.timestampMs =
      this.#row === null ? Number.POSITIVE_INFINITY : timestampAt(this.#row.chunk, this.#row.row);
    return count;
  }
}
