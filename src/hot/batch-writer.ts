import type { DeviceId } from "../model/ids.ts";
import type { ReportBatch } from "../model/report-batch.ts";
import type { TimeRange } from "../model/time/range.ts";
import type { AppDevices } from "./app-devices.ts";
import { NO_DEVICE } from "./devices/device-table.ts";
import { NO_USER } from "./devices/users-of-app.ts";
import { type DayLedger, isSealed } from "./late/day-ledger.ts";
import type { RecordWriter } from "./record-writer.ts";
import { profileAt } from "./records/chunk.ts";
import { NO_TUPLE } from "./records/counted-tuples.ts";
import type { BatchTuples, Dictionary } from "./records/dictionary.ts";

/** How a batch of reports gets into memory. */

/** What became of the batch's reports: new or changed records, and repeats that changed nothing. */
export interface AppliedBatch {
  readonly accepted: number;
  readonly duplicates: number;
  /** How many of the accepted are of instants without a record in memory; the others were laid over one. */
  readonly created: number;
  /** How many of the duplicates have another position than their record, whose own outranks it. */
  readonly outranked: number;
  /** Rows of the batch that made a record of a sealed day, which the archive may have too. */
  readonly createdLate: readonly number[];
}

interface Counts {
  accepted: number;
  created: number;
  outranked: number;
  readonly createdLate: number[];
}

/** Lays batches of reports over the records in memory. */
export class BatchWriter {
  readonly #dictionary: Dictionary;
  readonly #ledger: DayLedger;
  readonly #records: RecordWriter;
  /** Whether what becomes visible is remembered. */
  keepsChanges = false;

  constructor(dictionary: Dictionary, ledger: DayLedger, records: RecordWriter) {
    this.#dictionary = dictionary;
    this.#ledger = ledger;
    this.#records = records;
  }

  /** Lays the batch of an entry of the log over the app's records, in order, but for what the archive covers. */
  apply(app: AppDevices, batch: ReportBatch, sequence: number): AppliedBatch {
    const block = new BatchBlock(app, batch, sequence, this.#ledger, this.#dictionary);
    const counts: Counts = { accepted: 0, created: 0, outranked: 0, createdLate: [] };
    for (let from = 0; from < batch.count; from += BLOCK_ROWS) {
      const to = Math.min(from + BLOCK_ROWS, batch.count);
      block.moveTo(from, to);
      this.#applyBlock(app, batch, sequence, from, to, block, counts);
    }
    this.#dictionary.collect();
    return { ...counts, duplicates: batch.count - counts.accepted };
  }

  /** Counts the rows that changed anything. */
  #applyBlock(
    app: AppDevices,
    batch: ReportBatch,
    sequence: number,
    from: number,
    to: number,
    block: BatchBlock,
    counts: Counts,
  ): void {
    const { devices, profiles, states } = block;
    const carried = { profile: 0, state: 0 };
    const shown: number[] = [];
    for (let row = from; row < to; row++) {
      const device = devices[row - from]!;
      if (device === NO_DEVICE) continue;
      const timestampMs = batch.timestampMs[row]!;
      carried.profile = profiles[row - from]!;
      carried.state = states[row - from]!;
      const day = this.#ledger.at(timestampMs);
      const written = this.#records.write(app, device, day, batch, row, carried);
      if (written === "outranked") counts.outranked++;
      if (written === "outranked" || written === "known") continue;
      counts.accepted++;
      if (written === "created") {
        counts.created++;
        if (isSealed(day)) counts.createdLate.push(row);
      }
      if (this.#records.showsAtEnd) continue;
      app.touches.note(device, sequence);
      if (timestampMs === app.table.columns.newestMs(device) && device !== shown.at(-1)) shown.push(device);
    }
    for (let at = 0; at < shown.length; at++) {
      if (this.keepsChanges) this.#noteChange(app, shown[at]!, sequence);
      this.#records.showNewest(app, shown[at]!);
    }
  }

  /** Before it is visible: the device is noted as it was until now. */
  #noteChange({ table, changes, positions }: AppDevices, number: number, sequence: number): void {
    const currentUser = table.columns.currentUsers.of(number);
    if (currentUser === NO_USER) changes.note(number, sequence, Number.NaN, Number.NaN, 0);
    else {
      const { byDevice } = positions;
      const userHash = this.#dictionary.userHash(currentUser);
      changes.note(number, sequence, byDevice.latitudeOf(number), byDevice.longitudeOf(number), userHash);
    }
  }

  /** What the whole batch comes to if it only repeats what memory knows of the app; null if it does not. */
  findRepeated(app: AppDevices, batch: ReportBatch): AppliedBatch | null {
    let outranked = 0;
    for (let row = 0; row < batch.count; row++) {
      const device = app.table.numberOf(batch.texts[batch.device[row]!]!);
      if (device === NO_DEVICE) return null;
      const day = this.#ledger.at(batch.timestampMs[row]!);
      const unchanged = this.#records.findUnchanged(app, device, day, batch, row);
      if (unchanged === null) return null;
      if (unchanged === "outranked") outranked++;
    }
    return { accepted: 0, duplicates: batch.count, created: 0, outranked, createdLate: [] };
  }

  /** Takes in records as the newest sealed ones of their devices; where there are several of one, the newest. */
  restoreNewest(app: AppDevices, batch: ReportBatch): void {
    const tuples = this.#dictionary.translate(batch);
    const carried = { profile: 0, state: 0 };
    for (let row = 0; row < batch.count; row++) {
      const device = app.findOrAdd(batch.texts[batch.device[row]!] as DeviceId);
      if (batch.timestampMs[row]! < app.table.columns.sealedTimes.of(device)) continue;
      carried.profile = tuples.profiles.numberOf(batch.profile[row]!, NO_TUPLE);
      carried.state = tuples.states.numberOf(batch.state[row]!, NO_TUPLE);
      this.#records.restoreNewest(app, device, batch, row, carried);
    }
    this.#dictionary.collect();
  }
}

/** The first row of each instant of a range without a record in memory. The app is null if memory has none of it. */
export function rowsWithoutRecord(
  app: AppDevices | null,
  { count, texts, device, timestampMs }: ReportBatch,
  { startMs, endMs }: TimeRange,
): number[] {
  const rows = new Map<string, number>();
  for (let row = 0; row < count; row++) {
    if (timestampMs[row]! < startMs || timestampMs[row]! >= endMs) continue;
    const number = app?.table.numberOf(texts[device[row]!]!) ?? NO_DEVICE;
    if (number !== NO_DEVICE && app!.table.columns.tracks.find(number, timestampMs[row]!) !== null) continue;
    const instant = `${device[row]} ${timestampMs[row]}`;
    if (!rows.has(instant)) rows.set(instant, row);
  }
  return [...rows.values()];
}

/** Enough that memory fetches many lines at once, and few enough that they stay in the cache for the next pass. */
export const BLOCK_ROWS = 128;

/**
 * What some rows of a batch need of memory, looked for in passes over all of them: what one row waits for is then
 * fetched beside what the others do, where row by row it would be fetched one after the other.
 */
class BatchBlock {
  /** By row of the block, its device; `NO_DEVICE` where the archive covers it. */
  readonly devices: Int32Array;
  /** By row of the block, its profile and state in the dictionary's numbers. */
  readonly profiles: Int32Array;
  readonly states: Int32Array;
  readonly #app: AppDevices;
  readonly #batch: ReportBatch;
  readonly #sequence: number;
  readonly #ledger: DayLedger;
  readonly #tuples: BatchTuples;
  /** Those that were found, by the text of their id. */
  readonly #found: Int32Array;

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
    this.#found = new Int32Array(batch.texts.length).fill(NO_DEVICE);
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
    const { device, texts } = this.#batch;
    const wanted: number[] = [];
    const ids: DeviceId[] = [];
    for (let row = from; row < to; row++) {
      const text = device[row]!;
      if (this.#found[text] !== NO_DEVICE || this.#isCovered(row) || text === wanted[wanted.length - 1])
        continue;
      wanted.push(text);
      ids.push(texts[text] as DeviceId);
    }
    const known = this.#app.table.numbersOf(ids);
    for (let at = 0; at < ids.length; at++) {
      const number = known[at]!;
      this.#found[wanted[at]!] = number === NO_DEVICE ? this.#app.findOrAdd(ids[at]!) : number;
    }
    for (let row = from; row < to; row++) {
      this.devices[row - from] = this.#isCovered(row) ? NO_DEVICE : this.#found[device[row]!]!;
    }
  }

  #isCovered(row: number): boolean {
    return this.#sequence <= this.#ledger.at(this.#batch.timestampMs[row]!).sealedSequence;
  }

  /** Mostly what the next report carries is the same, and it lies where that will. */
  #readNewestProfiles(rows: number): void {
    for (let at = 0; at < rows; at++) this.profiles[at] = this.#newestProfile(this.devices[at]!);
  }

  #newestProfile(device: number): number {
    const newest = device === NO_DEVICE ? null : this.#app.sealed.findNewest(device);
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
