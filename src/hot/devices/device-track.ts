import type { TimeRange } from "../../time/range.ts";
import type { Chunk } from "../records/chunk.ts";
import type { RowRef } from "../records/long-track.ts";
import type { Tracks } from "../records/tracks.ts";
import type { Device } from "./device.ts";

/** One device's records in memory, in time order; counted from 0, the oldest, so a time range is a range of indexes. */
export class DeviceTrack {
  readonly #device: Device;
  readonly #tracks: Tracks;

  constructor(device: Device, tracks: Tracks) {
    this.#device = device;
    this.#tracks = tracks;
  }

  get count(): number {
    return this.#device.isGone ? 0 : this.#tracks.count(this.#device.number);
  }

  /** Timestamp of the newest record; -Infinity while there is none. */
  get newestMs(): number {
    return this.#device.isGone ? Number.NEGATIVE_INFINITY : this.#tracks.newestMs(this.#device.number);
  }

  /** How many records are older than this. */
  countBefore(timestampMs: number): number {
    return this.#device.isGone ? 0 : this.#tracks.countBefore(this.#device.number, timestampMs);
  }

  /** The record of an index. */
  at(index: number): RowRef {
    return this.#tracks.at(this.#device.number, index);
  }

  /** The record with this very timestamp, or null. */
  find(timestampMs: number): RowRef | null {
    return this.#device.isGone ? null : this.#tracks.find(this.#device.number, timestampMs);
  }

  /** Makes a row for a timestamp that is not there yet, with columns for `mask`; the caller fills it. */
  insert(timestampMs: number, mask: number): RowRef {
    return this.#tracks.insert(this.#device.number, timestampMs, mask);
  }

  /** The same record in a chunk that has columns for `mask`; its old place gives way where it has not. */
  widen(ref: RowRef, mask: number): RowRef {
    return this.#tracks.widen(this.#device.number, ref, mask);
  }

  /** Visits records `from` to `to`, a run of rows of one chunk at a time, oldest first. */
  runs(from: number, to: number, visit: (chunk: Chunk, rowFrom: number, rowTo: number) => void): void {
    if (!this.#device.isGone) this.#tracks.runs(this.#device.number, from, to, visit);
  }

  /** Takes out what lies in the range and is not to be kept, and frees its memory. */
  remove(range: TimeRange, isKept: (timestampMs: number) => boolean): void {
    this.#tracks.remove(this.#device.number, range, isKept);
  }
}
