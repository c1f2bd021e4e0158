import { NUMBER_FIELDS } from "../../model/location-fields.ts";
import type { ReportBatch } from "../../model/report-batch.ts";
import {
  ALL_FIELDS,
  type Chunk,
  copyNumbers,
  copyRows,
  createChunk,
  profileAt,
  setNumber,
  setTimestamp,
  setTuples,
  stateAt,
  timestampAt,
  writeRow,
} from "../records/chunk.ts";
import type { Dictionary } from "../records/dictionary.ts";
import type { RowRef } from "../records/long-track.ts";
import type { DeviceTable } from "./device-table.ts";

/**
 * The newest sealed record of each device that has one, by device number: rows of one chunk that grows. A chunk
 * for each device would cost five times its record.
 */
export class SealedRows {
  #chunk: Chunk = createChunk(0, ALL_FIELDS);
  readonly #numbers = new Float64Array(NUMBER_FIELDS.length);
  readonly #table: DeviceTable;
  readonly #dictionary: Dictionary;

  constructor(table: DeviceTable, dictionary: Dictionary) {
    this.#table = table;
    this.#dictionary = dictionary;
  }

  /** The device's row; void once any row is set. */
  at(device: number): RowRef {
    return { chunk: this.#chunk, row: device };
  }

  /** The newest record of a device that has one, wherever it is. */
  newest(device: number): RowRef {
    return this.findNewest(device)!;
  }

  /** The same; null where the device has none. */
  findNewest(device: number): RowRef | null {
    const { tracks, sealedTimes } = this.#table.columns;
    const sealedMs = sealedTimes.of(device);
    const inTrack = tracks.findNewest(device);
    if (sealedMs === Number.NEGATIVE_INFINITY) return inTrack;
    return inTrack !== null && timestampAt(inTrack.chunk, inTrack.row) >= sealedMs
      ? inTrack
      : this.at(device);
  }

  /** Writes a row from a batch, with the dictionary's numbers of its profile and state. */
  write(device: number, batch: ReportBatch, row: number, profile: number, state: number): void {
    const timestampMs = batch.timestampMs[row]!;
    this.#grow(device);
    writeRow(this.#chunk, device, timestampMs, batch.numbers, row);
    this.#setTuples(device, profile, state);
    this.#table.columns.sealedTimes.set(device, timestampMs);
  }

  /** Copies a row from wherever it is. */
  set(device: number, { chunk, row }: RowRef): void {
    const timestampMs = timestampAt(chunk, row);
    this.#grow(device);
    const target = this.#chunk;
    copyNumbers(chunk, row, this.#numbers, 0);
    setTimestamp(target, device, timestampMs);
    this.#numbers.forEach((value, field) => {
      setNumber(target, device, field, value);
    });
    this.#setTuples(device, profileAt(chunk, row), stateAt(chunk, row));
    this.#table.columns.sealedTimes.set(device, timestampMs);
  }

  /** Forgets the device's row, where it has one. */
  remove(device: number): void {
    const { sealedTimes } = this.#table.columns;
    if (sealedTimes.of(device) === Number.NEGATIVE_INFINITY) return;
    const { chunk, row } = this.at(device);
    this.#dictionary.release(profileAt(chunk, row), stateAt(chunk, row));
    sealedTimes.set(device, Number.NEGATIVE_INFINITY);
  }

  /** In place of those of the row that the device had, if any. */
  #setTuples(device: number, profile: number, state: number): void {
    this.#dictionary.retain(profile, state);
    this.remove(device);
    setTuples(this.#chunk, device, profile, state);
  }

  #grow(device: number): void {
    const { capacity } = this.#chunk;
    if (device < capacity) return;
    this.#chunk = copyRows(this.#chunk, 0, capacity, Math.max(device + 1, capacity * 2), ALL_FIELDS);
  }
}
