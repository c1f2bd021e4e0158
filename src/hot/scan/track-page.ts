import type { Order, TimeRange } from "../../model/time/range.ts";
import type { Device } from "../devices/device.ts";
import { timestampAt } from "../records/chunk.ts";
import type { RowRef } from "../records/long-track.ts";
import { DeviceRecords } from "./device-records.ts";
import type { MemoryScan } from "./memory-scan.ts";
import type { Timeline } from "./page-builder.ts";
import { PageBuilder } from "./page-builder.ts";

/*
 * Pages of a device, or of a few, whose records all take part: rows of their tracks, merged. Hardly any user has more
 * devices than that.
 */

const TRACKS_MAX = 8;

/** Null where there are more devices, or where records have to be looked at one by one. */
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

/** In the order of devices. */
function tracksOf({ devices, range, filter, dictionary }: MemoryScan): DeviceRecords[] | null {
  if (devices.size > TRACKS_MAX) return null;
  const tracks: DeviceRecords[] = [];
  for (const block of devices.blocks()) {
    if (block.length === 0) return null; // To put the list in order takes steps.
    for (const device of block) {
      const records = new DeviceRecords(device, range, filter(), dictionary);
      if (records.isFiltered) return null;
      tracks.push(records);
    }
  }
  return tracks;
}

/** Adds the rows of one track from a place of it on, which takes half of what merging would. */
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

/** So many rows in order of time, then of devices, from the one on that so many come before. */
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

/** The last instant before which no more than so many records lie: at the instant itself is at most one a track. */
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

/** The next record of a track. */
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

  /** Passes over so many; returns how many those are. */
  skip(count: number): number {
    this.#index += count;
    this.#row = this.#index < this.records.to ? this.records.at(this.#index) : null;
    this.timestampMs =
      this.#row === null ? Number.POSITIVE_INFINITY : timestampAt(this.#row.chunk, this.#row.row);
    return count;
  }
}
