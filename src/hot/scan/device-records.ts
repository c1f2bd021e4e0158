import { numberIndex } from "../../model/location-fields.ts";
import type { TimeRange } from "../../model/time/range.ts";
import type { Device } from "../devices/device.ts";
import { type Chunk, numberAt, profileAt, rowBytes, timestampAt } from "../records/chunk.ts";
import type { Dictionary } from "../records/dictionary.ts";
import type { RowRef } from "../records/long-track.ts";

const LATITUDE = numberIndex("latitude");
const LONGITUDE = numberIndex("longitude");
const ACCURACY = numberIndex("horizontal_accuracy");

/** The conditions a record must meet, besides its time. */
export interface RecordFilter {
  /** Excludes records whose horizontal accuracy is greater; records without one pass. */
  readonly accuracyMetersMax: number | null;
  /** Only records of this user, by the dictionary's number; null for all. */
  readonly user: number | null;
  /** Excludes rows of corrections. */
  readonly originals: boolean;
}

/** The records of one device in a time range that pass a filter. Invalid once the device gets a report. */
export class DeviceRecords {
  readonly device: Device;
  /** Indexes in the track: the first in the range, and the one past the last. Filtered records count. */
  readonly from: number;
  readonly to: number;
  /** Bytes of records read so far. */
  bytesRead = 0;
  readonly #filter: RecordFilter | null;
  readonly #dictionary: Dictionary;

  constructor(device: Device, range: TimeRange, filter: RecordFilter, dictionary: Dictionary) {
    this.device = device;
    this.from = device.countBefore(range.startMs);
    this.to = device.countBefore(range.endMs);
    this.#dictionary = dictionary;
    // If all records of the device are of this user, no record's user needs to be read.
    const user =
      filter.user !== null && device.recordsOf(filter.user) < device.recordCount ? filter.user : null;
    const { accuracyMetersMax } = filter;
    const { corrected, copies } = device.columns;
    const hasOthers = corrected.hasAny(device.number) || (copies?.sourceCount(device.number) ?? 0) > 0;
    const originals = filter.originals && hasOthers;
    const needed = accuracyMetersMax !== null || user !== null || originals;
    this.#filter = needed ? { accuracyMetersMax, user, originals } : null;
  }

  /** Whether each record must be read to know if it matches. */
  get isFiltered(): boolean {
    return this.#filter !== null;
  }

  /** How many records from `from` to before `to` match. */
  count(from: number, to: number): number {
    if (this.#filter === null) return Math.max(0, to - from);
    let count = 0;
    this.visit(from, to, () => {
      count++;
    });
    return count;
  }

  matches(chunk: Chunk, row: number): boolean {
    const filter = this.#filter;
    if (filter === null) return true;
    const { accuracyMetersMax, user, originals } = filter;
    const { columns, number } = this.device;
    if (originals && isNotReported(columns, number, timestampAt(chunk, row))) return false;
    // A record without an accuracy has NaN, which is never greater.
    if (accuracyMetersMax !== null && numberAt(chunk, row, ACCURACY) > accuracyMetersMax) return false;
    return user === null || this.#dictionary.userOf(profileAt(chunk, row)) === user;
  }

  /** Visits the matching records from `from` to before `to`, oldest first. */
  visit(from: number, to: number, visit: (chunk: Chunk, row: number) => void): void {
    this.device.runs(from, to, (chunk, rowFrom, rowTo) => {
      this.bytesRead += (rowTo - rowFrom) * rowBytes(chunk);
      for (let row = rowFrom; row < rowTo; row++) if (this.matches(chunk, row)) visit(chunk, row);
    });
  }

  /** The record at an index of the track, matching or not. */
  at(index: number): RowRef {
    const at = this.device.recordAt(index);
    this.bytesRead += rowBytes(at.chunk);
    return at;
  }

  /** Visits the positions, in degrees, of the matching records from `from` to before `to`, oldest first. */
  visitPositions(from: number, to: number, visit: (latitude: number, longitude: number) => void): void {
    this.visit(from, to, (chunk, row) => {
      visit(numberAt(chunk, row, LATITUDE), numberAt(chunk, row, LONGITUDE));
    });
  }

  /** Like `visitPositions()`, with the time of each record. */
  visitTimedPositions(
    from: number,
    to: number,
    visit: (timestampMs: number, latitude: number, longitude: number) => void,
  ): void {
    this.visit(from, to, (chunk, row) => {
      visit(timestampAt(chunk, row), numberAt(chunk, row, LATITUDE), numberAt(chunk, row, LONGITUDE));
    });
  }

  /** How many records of the range, matching or not, are older than this. */
  countBefore(timestampMs: number): number {
    return this.device.countBefore(timestampMs) - this.from;
  }

  timeAt(index: number): number {
    return this.device.timeAt(index);
  }
}

/** Whether a record shows instead of reported ones, or is a copy of what another device reported. */
function isNotReported(
  { corrected, copies }: Device["columns"],
  device: number,
  timestampMs: number,
): boolean {
  return corrected.has(device, timestampMs) || copies?.has(device, timestampMs) === true;
}
