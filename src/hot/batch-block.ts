import type { DeviceId } from "../model/ids.ts";
import type { ReportBatch } from "../model/report-batch.ts";
import type { AppDevices } from "./app-devices.ts";
import { NO_DEVICE } from "./devices/device-table.ts";
import type { DayLedger } from "./late/day-ledger.ts";
import { profileAt } from "./records/chunk.ts";
import { NO_TUPLE } from "./records/counted-tuples.ts";
import type { BatchTuples, Dictionary } from "./records/dictionary.ts";

/** Enough rows that memory fetches many lines at once, and few enough that they stay in the cache for the next pass. */
export const BLOCK_ROWS = 128;

/**
 * What some rows of a batch need from memory, looked up in passes over all of them: the cache misses of the rows then
 * overlap, where row by row each would wait for the one before.
 */
export class BatchBlock {
  /** The device of each row of the block; `NO_DEVICE` if the archive covers the row. */
  readonly devices: Int32Array;
  /** The profile and state of each row of the block, by the dictionary's numbers. */
  readonly profiles: Int32Array;
  readonly states: Int32Array;
  readonly #app: AppDevices;
  readonly #batch: ReportBatch;
  readonly #sequence: number;
  readonly #ledger: DayLedger;
  readonly #tuples: BatchTuples;
  /** Device numbers that are known already, by the number of the id's text. */
  readonly #numbers: Int32Array;

  constructor(
    app: AppDevices,
    batch: ReportBatch,
    sequence: number,
    ledger: DayLedger,
    dictionary: Dictionary,
  ) {
    const rowsMax = Math.min(BLOCK_ROWS, batch.count);
    this.profiles = new Int32Array(rowsMax);
    this.states = new Int32Array(rowsMax);
    this.devices = new Int32Array(rowsMax);
    this.#numbers = new Int32Array(batch.texts.length).fill(NO_DEVICE);
    this.#app = app;
    this.#batch = batch;
    this.#sequence = sequence;
    this.#ledger = ledger;
    this.#tuples = dictionary.translate(batch);
  }

  /** Moves the block to these rows of the batch. */
  moveTo(from: number, to: number): void {
    this.#findDevices(from, to);
    this.#readNewestProfiles(to - from);
    this.#translateTuples(from, to);
  }

  /** Fills `devices` and adds devices that are new. */
  #findDevices(from: number, to: number): void {
    const { device, texts } = this.#batch;
    const wanted: number[] = [];
    const ids: DeviceId[] = [];
    for (let row = from; row < to; row++) {
      const text = device[row]!;
      if (this.#numbers[text] !== NO_DEVICE || this.#isCovered(row) || text === wanted[wanted.length - 1])
        continue;
      wanted.push(text);
      ids.push(texts[text] as DeviceId);
    }
    const known = this.#app.table.numbersOf(ids);
    for (let at = 0; at < ids.length; at++) {
      const number = known[at]!;
      this.#numbers[wanted[at]!] = number === NO_DEVICE ? this.#app.findOrAdd(ids[at]!) : number;
    }
    for (let row = from; row < to; row++) {
      this.devices[row - from] = this.#isCovered(row) ? NO_DEVICE : this.#numbers[device[row]!]!;
    }
  }

  #isCovered(row: number): boolean {
    return this.#sequence <= this.#ledger.at(this.#batch.timestampMs[row]!).sealedSequence;
  }

  /** A report mostly carries the profile of the device's newest record, so translating compares with that first. */
  #readNewestProfiles(rows: number): void {
    for (let at = 0; at < rows; at++) this.profiles[at] = this.#newestProfile(this.devices[at]!);
  }

  #newestProfile(device: number): number {
    const newest = device === NO_DEVICE ? null : this.#app.archivedRows.findNewest(device);
    return newest === null ? NO_TUPLE : profileAt(newest.chunk, newest.row);
  }

  #translateTuples(from: number, to: number): void {
    const { profile, state } = this.#batch;
    for (let row = from; row < to; row++) {
      const at = row - from;
      if (this.devices[at] === NO_DEVICE) continue;
      this.profiles[at] = this.#tuples.profiles.numberOf(profile[row]!, this.profiles[at]!);
      this.states[at] = this.#tuples.states.numberOf(state[row]!, NO_TUPLE);
    }
  }
}
