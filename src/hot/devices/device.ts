import type { Buffer } from "node:buffer";
import { unpackText } from "../../lib/tables/packed-texts.ts";
import type { DeviceId } from "../../model/ids.ts";
import { type Chunk, timestampAt } from "../records/chunk.ts";
import type { RowRef } from "../records/long-track.ts";
import type { DeviceColumns } from "./device-columns.ts";

/**
 * One device of an app. Its data lies in columns; this object names the device by its number and is created per caller.
 * It never means another device: once the app has forgotten the device and reused the number, it has no records.
 * Its records in memory are in time order and counted from 0, the oldest, so a time range is a range of indexes.
 */
export class Device {
  readonly number: number;
  readonly #columns: DeviceColumns;
  /** How often the number had become free when this object was created. */
  readonly #removals: number;
  /** Null until it is needed: a walk over all devices needs few ids. */
  #id: DeviceId | null;
  /** The bytes that contain the id while `#id` is null. */
  readonly #idBytes: Buffer | null;
  readonly #idStart: number;

  /** The number must be in use. `id` may be null; it is then read when it is needed. */
  constructor(id: DeviceId | null, number: number, columns: DeviceColumns) {
    this.number = number;
    this.#columns = columns;
    this.#removals = columns.removals.of(number);
    this.#id = id;
    this.#idBytes = id === null ? columns.ids.bytesOf(number) : null;
    this.#idStart = id === null ? columns.ids.startOf(number) : 0;
  }

  get id(): DeviceId {
    this.#id ??= (
      this.isGone ? unpackText(this.#idBytes!, this.#idStart) : this.#columns.ids.text(this.number)
    ) as DeviceId;
    return this.#id;
  }

  get columns(): DeviceColumns {
    return this.#columns;
  }

  /** Whether the app has forgotten it. */
  get isGone(): boolean {
    return this.#columns.removals.of(this.number) !== this.#removals;
  }

  get recordCount(): number {
    return this.isGone ? 0 : this.#columns.tracks.count(this.number);
  }

  /** How many records in memory are older than this. */
  countBefore(timestampMs: number): number {
    return this.isGone ? 0 : this.#columns.tracks.countBefore(this.number, timestampMs);
  }

  recordAt(index: number): RowRef {
    return this.#columns.tracks.at(this.number, index);
  }

  timeAt(index: number): number {
    const { chunk, row } = this.recordAt(index);
    return timestampAt(chunk, row);
  }

  /** The record with exactly this timestamp, or null. */
  findRecord(timestampMs: number): RowRef | null {
    return this.isGone ? null : this.#columns.tracks.find(this.number, timestampMs);
  }

  /** Visits the records from index `from` to `to`, oldest first, in runs of rows of one chunk. */
  runs(from: number, to: number, visit: (chunk: Chunk, rowFrom: number, rowTo: number) => void): void {
    if (!this.isGone) this.#columns.tracks.runs(this.number, from, to, visit);
  }

  /** User (as the dictionary numbers them) of the newest record; 0 before the first. */
  get currentUser(): number {
    return this.isGone ? 0 : this.#columns.currentUsers.of(this.number);
  }

  /** Timestamp of the newest archived record; -Infinity if there is none. */
  get archivedNewestMs(): number {
    return this.isGone ? Number.NEGATIVE_INFINITY : this.#columns.archivedTimes.of(this.number);
  }

  /** How many records in memory count as the user's. Late rows that may lie over an archived record don't count. */
  recordsOf(user: number): number {
    return this.isGone ? 0 : this.#columns.userCounts.recordsOf(this.number, user);
  }

  /** Timestamp of the newest record, in memory or archived; -Infinity before the first. */
  get newestMs(): number {
    return this.isGone ? Number.NEGATIVE_INFINITY : this.#columns.newestMs(this.number);
  }
}
