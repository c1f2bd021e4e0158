import { NUMBER_FIELDS } from "../model/location-fields.ts";
import type { ReportBatch } from "../model/report-batch.ts";
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
} from "./chunk.ts";
import type { RowRef } from "./track.ts";

/**
 * The newest sealed record of each device that has one, by device number: rows of one chunk that grows. A chunk
 * for each device would cost five times its record.
 */
export class SealedRows {
  #chunk: Chunk = createChunk(0, ALL_FIELDS);
  readonly #numbers = new Float64Array(NUMBER_FIELDS.length);

  /** The device's row; void once any row is set. */
  at(device: number): RowRef {
    return { chunk: this.#chunk, row: device };
  }

  /** Writes a row from a batch, with the dictionary's numbers of its profile and state. */
  write(device: number, batch: ReportBatch, row: number, profile: number, state: number): RowRef {
    this.#grow(device);
    writeRow(this.#chunk, device, batch.timestampMs[row]!, batch.numbers, row);
    setTuples(this.#chunk, device, profile, state);
    return this.at(device);
  }

  set(device: number, { chunk, row }: RowRef): void {
    this.#grow(device);
    const target = this.#chunk;
    copyNumbers(chunk, row, this.#numbers, 0);
    setTimestamp(target, device, timestampAt(chunk, row));
    this.#numbers.forEach((value, field) => {
      setNumber(target, device, field, value);
    });
    setTuples(target, device, profileAt(chunk, row), stateAt(chunk, row));
  }

  #grow(device: number): void {
    const { capacity } = this.#chunk;
    if (device < capacity) return;
    this.#chunk = copyRows(this.#chunk, 0, capacity, Math.max(device + 1, capacity * 2), ALL_FIELDS);
  }
}
