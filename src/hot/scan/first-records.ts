import type { Order } from "../../model/time/range.ts";
import type { Device } from "../devices/device.ts";
import { timestampAt } from "../records/chunk.ts";
import type { DeviceRecords } from "./device-records.ts";

/** Identifies a record within its app. */
export interface RecordKey {
  readonly device: Device;
  readonly timestampMs: number;
}

interface Candidate extends RecordKey {
  /** Rank of the device among those seen, which come in the order of their ids. */
  readonly rank: number;
}

/** Sorting only pays if it drops many candidates. */
const SPARE_MIN = 256;

/**
 * Collects the first records in order of time, then of devices, or the reverse of that. Records are added by device.
 */
export class FirstRecords {
  readonly #count: number;
  readonly #compare: (a: Candidate, b: Candidate) => number;
  readonly #isAscending: boolean;
  #candidates: Candidate[] = [];
  /** Once `#count` candidates are known, a record behind this time is not among the first. */
  #lastMs: number;
  #rank = 0;
  #device: Device | null = null;

  constructor(order: Order, count: number) {
    this.#count = count;
    this.#isAscending = order === "asc";
    this.#compare = this.#isAscending ? oldestFirst : newestFirst;
    this.#lastMs = this.#isAscending ? Number.POSITIVE_INFINITY : Number.NEGATIVE_INFINITY;
  }

  /** Adds the matching records of a device up to an index. Returns how many match. */
  addRecords(records: DeviceRecords, to: number): number {
    const { device, from } = records;
    if (device !== this.#device) {
      this.#device = device;
      this.#rank++;
    }
    if (this.#count === 0) return records.count(from, to);
    if (records.isFiltered) return this.#addMatching(records, to);
    for (let step = 0; step < Math.min(this.#count, to - from); step++) {
      const { chunk, row } = records.at(this.#isAscending ? from + step : to - 1 - step);
      if (!this.#add(device, timestampAt(chunk, row))) break;
    }
    return to - from;
  }

  inOrder(): RecordKey[] {
    this.#drop();
    return this.#candidates;
  }

  #addMatching(records: DeviceRecords, to: number): number {
    let matching = 0;
    records.visit(records.from, to, (chunk, row) => {
      this.#add(records.device, timestampAt(chunk, row));
      matching++;
    });
    return matching;
  }

  /** False if neither this record nor any behind it is among the first. */
  #add(device: Device, timestampMs: number): boolean {
    // If two devices have a record at one instant, the device that is seen later comes behind, or before if descending.
    if (this.#isAscending ? timestampMs >= this.#lastMs : timestampMs < this.#lastMs) return false;
    this.#candidates.push({ device, timestampMs, rank: this.#rank });
    if (this.#candidates.length >= 2 * this.#count + SPARE_MIN) this.#drop();
    return true;
  }

  #drop(): void {
    this.#candidates.sort(this.#compare);
    if (this.#candidates.length < this.#count) return;
    this.#candidates.length = this.#count;
    const last = this.#candidates.at(-1);
    if (last !== undefined) this.#lastMs = last.timestampMs;
  }
}

function oldestFirst(a: Candidate, b: Candidate): number {
  return a.timestampMs - b.timestampMs || a.rank - b.rank;
}

function newestFirst(a: Candidate, b: Candidate): number {
  return b.timestampMs - a.timestampMs || b.rank - a.rank;
}
