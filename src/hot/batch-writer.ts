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

/** What a batch of reports changed. Accepted are new and changed records; duplicates changed nothing. */
export interface AppliedBatch {
  readonly accepted: number;
  readonly duplicates: number;
  /** How many accepted reports created a record in memory. The others changed one. */
  readonly created: number;
  /** How many duplicates have a position that differs from their record's, whose own outranks it. */
  readonly outranked: number;
  /** Rows of the batch that created a record of a sealed day. The archive may have that record too. */
  readonly createdLate: readonly number[];
}

interface Counts {
  accepted: number;
  created: number;
  outranked: number;
  readonly createdLate: number[];
}

/** Merges batches of reports into the records in memory. */
export class BatchWriter {
  readonly #dictionary: Dictionary;
  readonly #ledger: DayLedger;
  readonly #records: RecordWriter;
  /** Whether apps remember what becomes visible. */
  keepsChanges = false;

  constructor(dictionary: Dictionary, ledger: DayLedger, records: RecordWriter) {
    this.#dictionary = dictionary;
    this.#ledger = ledger;
    this.#records = records;
  }

  /** Merges the batch of a log entry into the app's records, in order. Reports that the archive covers are skipped. */
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
    const newest: number[] = [];
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
      if (timestampMs === app.table.columns.newestMs(device) && device !== newest.at(-1)) newest.push(device);
    }
    for (let at = 0; at < newest.length; at++) {
      if (this.keepsChanges) this.#noteChange(app, newest[at]!, sequence);
      this.#records.showNewest(app, newest[at]!);
    }
  }

  /** Records what the device was before the change, so call it before the change is visible. */
  #noteChange({ table, changes, positions }: AppDevices, number: number, sequence: number): void {
    const currentUser = table.columns.currentUsers.of(number);
    if (currentUser === NO_USER) changes.note(number, sequence, Number.NaN, Number.NaN, 0);
    else {
      const { byDevice } = positions;
      const userHash = this.#dictionary.userHash(currentUser);
      changes.note(number, sequence, byDevice.latitudeOf(number), byDevice.longitudeOf(number), userHash);
    }
  }

  /** Notes that a device looks different. Returns whether viewers are to be told. */
  noteProfile(app: AppDevices, deviceId: DeviceId, sequence: number): boolean {
    const device = app.table.numberOf(deviceId);
    if (device === NO_DEVICE || this.#records.showsAtEnd) return false;
    app.touches.note(device, sequence);
    if (!this.keepsChanges || app.table.columns.currentUsers.of(device) === NO_USER) return false;
    this.#noteChange(app, device, sequence);
    return true;
  }

  /** The result of a batch that only repeats what memory has of the app; null if the batch would change anything. */
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

  /** Restores the newest archived records of devices. If a device has several, the newest wins. */
  restoreNewest(app: AppDevices, batch: ReportBatch): void {
    const tuples = this.#dictionary.translate(batch);
    const carried = { profile: 0, state: 0 };
    for (let row = 0; row < batch.count; row++) {
      const device = app.findOrAdd(batch.texts[batch.device[row]!] as DeviceId);
      if (batch.timestampMs[row]! < app.table.columns.archivedTimes.of(device)) continue;
      carried.profile = tuples.profiles.numberOf(batch.profile[row]!, NO_TUPLE);
      carried.state = tuples.states.numberOf(batch.state[row]!, NO_TUPLE);
      this.#records.restoreNewest(app, device, batch, row, carried);
    }
    this.#dictionary.collect();
  }
}

/** The first row of each instant in the range that has no record in memory. `app` is null if memory doesn't know it. */
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

/** Enough rows that memory fetches many lines at once, and few enough that they stay in the cache for the next pass. */
export const BLOCK_ROWS = 128;

/**
 * What some rows of a batch need from memory, looked up in passes over all of them: the cache misses of the rows then
 * overlap, where row by row each would wait for the one before.
 */
class BatchBlock {
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
