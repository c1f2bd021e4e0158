import type { DeviceId } from "../model/ids.ts";
import type { ReportBatch } from "../model/report-batch.ts";
import type { AppDevices } from "./app-devices.ts";
import type { Device } from "./devices/device.ts";
import type { DayLedger } from "./late/day-ledger.ts";
import { profileAt } from "./records/chunk.ts";
import { NO_TUPLE } from "./records/counted-tuples.ts";
import type { BatchTuples, Dictionary } from "./records/dictionary.ts";

/** Enough that memory fetches many lines at once, and few enough that they stay in the cache for the next pass. */
export const BLOCK_ROWS = 128;

/**
 * What some rows of a batch need of memory, looked for in passes over all of them: what one row waits for is then
 * fetched beside what the others do, where row by row it would be fetched one after the other.
 */
export class BatchBlock {
  /** By row of the block; null where the archive covers it. */
  readonly devices: (Device | null)[] = [];
  /** By row of the block, its profile and state in the dictionary's numbers. */
  readonly profiles: Int32Array;
  readonly states: Int32Array;
  readonly #app: AppDevices;
  readonly #batch: ReportBatch;
  readonly #sequence: number;
  readonly #ledger: DayLedger;
  readonly #tuples: BatchTuples;
  /** Those that were found, by the text of their id. */
  readonly #found: (Device | undefined)[] = [];

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
    this.#app = app;
    this.#batch = batch;
    this.#sequence = sequence;
    this.#ledger = ledger;
    this.#tuples = dictionary.translate(batch);
  }

  /** The block is now of these rows of the batch. */
  moveTo(from: number, to: number): void {
    this.#findDevices(from, to);
    this.#readNewestProfiles(to - from);
    this.#translateTuples(from, to);
  }

  /** Adds those that are new. */
  #findDevices(from: number, to: number): void {
    const { timestampMs, device, texts } = this.#batch;
    for (let row = from; row < to; row++) {
      const isCovered = this.#sequence <= this.#ledger.at(timestampMs[row]!).sealedSequence;
      const text = device[row]!;
      if (!isCovered) this.#found[text] ??= this.#app.findOrAdd(texts[text] as DeviceId);
      this.devices[row - from] = isCovered ? null : this.#found[text]!;
    }
  }

  /** Mostly what the next report carries is the same, and it lies where that will. */
  #readNewestProfiles(rows: number): void {
    for (let at = 0; at < rows; at++) this.profiles[at] = this.#newestProfile(this.devices[at]!);
  }

  #newestProfile(device: Device | null): number {
    if (device === null || device.newestMs === Number.NEGATIVE_INFINITY) return NO_TUPLE;
    const newest = this.#app.newest(device);
    return profileAt(newest.chunk, newest.row);
  }

  #translateTuples(from: number, to: number): void {
    const { profile, state } = this.#batch;
    for (let row = from; row < to; row++) {
      const at = row - from;
      if (this.devices[at] === null) continue;
      this.profiles[at] = this.#tuples.profile(profile[row]!, this.profiles[at]!);
      this.states[at] = this.#tuples.state(state[row]!);
    }
  }
}
