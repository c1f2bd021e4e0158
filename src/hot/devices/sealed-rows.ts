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
import type { RowRef } from "../records/track.ts";
import type { Device } from "./device.ts";

/**
 * The newest sealed record of each device that has one, by device number: rows of one chunk that grows. A chunk
 * for each device would cost five times its record.
 */
export class SealedRows {
  #chunk: Chunk = createChunk(0, ALL_FIELDS);
  readonly #numbers = new Float64Array(NUMBER_FIELDS.length);
  readonly #dictionary: Dictionary;

  constructor(dictionary: Dictionary) {
    this.#dictionary = dictionary;
  }

  /** The device's row; void once any row is set. */
  at(device: number): RowRef {
    return { chunk: this.#chunk, row: device };
  }

  /** The newest record of a device that has one, wherever it is. */
  newest({ number, track, sealedNewestMs }: Device): RowRef {
    return track.newestMs >= sealedNewestMs ? track.newest() : this.at(number);
  }

  /** Writes a row from a batch, with the dictionary's numbers of its profile and state. */
  write(device: Device, batch: ReportBatch, row: number, profile: number, state: number): void {
    const timestampMs = batch.timestampMs[row]!;
    this.#grow(device.number);
    writeRow(this.#chunk, device.number, timestampMs, batch.numbers, row);
    this.#setTuples(device, profile, state);
    device.sealedNewestMs = timestampMs;
  }

  /** Copies a row from wherever it is. */
  set(device: Device, { chunk, row }: RowRef): void {
    const timestampMs = timestampAt(chunk, row);
    this.#grow(device.number);
    const target = this.#chunk;
    copyNumbers(chunk, row, this.#numbers, 0);
    setTimestamp(target, device.number, timestampMs);
    this.#numbers.forEach((value, field) => {
      setNumber(target, device.number, field, value);
    });
    this.#setTuples(device, profileAt(chunk, row), stateAt(chunk, row));
    device.sealedNewestMs = timestampMs;
  }

  /** Forgets the device's row, where it has one. */
  remove(device: Device): void {
    if (device.sealedNewestMs === Number.NEGATIVE_INFINITY) return;
    const { chunk, row } = this.at(device.number);
    this.#dictionary.release(profileAt(chunk, row), stateAt(chunk, row));
    device.sealedNewestMs = Number.NEGATIVE_INFINITY;
  }

  /** In place of those of the row that the device had, if any. */
  #setTuples(device: Device, profile: number, state: number): void {
    this.#dictionary.retain(profile, state);
    this.remove(device);
    setTuples(this.#chunk, device.number, profile, state);
  }

  #grow(device: number): void {
    const { capacity } = this.#chunk;
    if (device < capacity) return;
    this.#chunk = copyRows(this.#chunk, 0, capacity, Math.max(device + 1, capacity * 2), ALL_FIELDS);
  }
}
