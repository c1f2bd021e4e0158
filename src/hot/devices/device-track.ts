import type { TimeRange } from "../../model/time/range.ts";
import type { Chunk } from "../records/chunk.ts";
import type { RowRef } from "../records/long-track.ts";
import type { DeviceColumns } from "./device-columns.ts";

/** One device's records in memory, in time order; counted from 0, the oldest, so a time range is a range of indexes. */
export class DeviceTrack {
  readonly #device: number;
  readonly #removals: number;
  readonly #columns: DeviceColumns;

  /** Of the device that has the number as long as it became free no more often. */
  constructor(device: number, removals: number, columns: DeviceColumns) {
    this.#device = device;
    this.#removals = removals;
    this.#columns = columns;
  }

  get #isGone(): boolean {
    return this.#columns.removals.of(this.#device) !== this.#removals;
  }

  get count(): number {
    return this.#isGone ? 0 : this.#columns.tracks.count(this.#device);
  }

  /** Timestamp of the newest record; -Infinity while there is none. */
  get newestMs(): number {
    return this.#isGone ? Number.NEGATIVE_INFINITY : this.#columns.tracks.newestMs(this.#device);
  }

  /** How many records are older than this. */
  countBefore(timestampMs: number): number {
    return this.#isGone ? 0 : this.#columns.tracks.countBefore(this.#device, timestampMs);
  }

  /** The record of an index. */
  at(index: number): RowRef {
    return this.#columns.tracks.at(this.#device, index);
  }

  /** The record with this very timestamp, or null. */
  find(timestampMs: number): RowRef | null {
    return this.#isGone ? null : this.#columns.tracks.find(this.#device, timestampMs);
  }

  /** Visits records `from` to `to`, a run of rows of one chunk at a time, oldest first. */
  runs(from: number, to: number, visit: (chunk: Chunk, rowFrom: number, rowTo: number) => void): void {
    if (!this.#isGone) this.#columns.tracks.runs(this.#device, from, to, visit);
  }

  /** Takes out what lies in the range and is not to be kept, and frees its memory. */
  remove(range: TimeRange, isKept: (timestampMs: number) => boolean): void {
    this.#columns.tracks.remove(this.#device, range, isKept);
  }
}
