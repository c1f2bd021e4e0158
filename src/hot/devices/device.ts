import type { Buffer } from "node:buffer";
import { unpackText } from "../../lib/tables/packed-texts.ts";
import type { DeviceId } from "../../model/ids.ts";
import type { DeviceColumns } from "./device-columns.ts";
import { DeviceTrack } from "./device-track.ts";

/**
 * One device of one app, which has a number from 0 on within it. What is known of it lies in columns;
 * this is a way to say which device is meant, made anew whenever somebody asks. It goes on to mean that device: where
 * that is forgotten, and its number given to another, it has no records.
 */
export class Device {
  readonly number: number;
  readonly #columns: DeviceColumns;
  /** Of the number, when this was made. */
  readonly #removals: number;
  /** Null until somebody asks: who goes through all devices asks few. */
  #id: DeviceId | null;
  /** Where the id lies, as long as it is null. */
  readonly #idBytes: Buffer | null;
  readonly #idStart: number;

  /** Of a number that is in use; its id where that is at hand. */
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

  /** All its records in memory. */
  get track(): DeviceTrack {
    return new DeviceTrack(this.number, this.#removals, this.#columns);
  }

  /** User (as the dictionary numbers them) of the newest record; 0 before the first. */
  get currentUser(): number {
    return this.isGone ? 0 : this.#columns.currentUsers.of(this.number);
  }

  /** Timestamp of the newest record that the archive holds; -Infinity where it holds none. */
  get sealedNewestMs(): number {
    return this.isGone ? Number.NEGATIVE_INFINITY : this.#columns.sealedTimes.of(this.number);
  }

  /** How many of the records in memory a user made; nobody those that may lie over somebody's record in the archive. */
  recordsOf(user: number): number {
    return this.isGone ? 0 : this.#columns.holders.recordsOf(this.number, user);
  }

  /** Whether memory has its record of this instant. */
  hasRecordAt(timestampMs: number): boolean {
    return this.track.find(timestampMs) !== null;
  }

  /** Timestamp of the newest record, wherever it is; -Infinity before the first. */
  get newestMs(): number {
    return this.isGone ? Number.NEGATIVE_INFINITY : this.#columns.newestMs(this.number);
  }
}
