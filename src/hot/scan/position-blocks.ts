import { type NumberFieldName, numberIndex } from "../../model/location-fields.ts";
import type { TimeRange } from "../../model/time/range.ts";
import type { Device } from "../devices/device.ts";
import { copyField, copyTimestamps } from "../records/chunk.ts";

/** Rows of a block, copied in some hundredths of a millisecond. */
const BLOCK_ROWS = 2048;

const LATITUDE = numberIndex("latitude");
const LONGITUDE = numberIndex("longitude");

/** Records in columns, valid until the next block; NaN if a record lacks a field. */
export interface PositionColumns {
  readonly count: number;
  readonly timestampMs: Float64Array;
  readonly latitude: Float64Array;
  readonly longitude: Float64Array;
  readonly numbers: readonly Float64Array[];
}

/** Reads a device's records of a range, oldest first, in blocks. Reports may come in between two blocks. */
export class PositionBlocks {
  readonly #device: Device;
  readonly #endMs: number;
  readonly #fields: readonly number[];
  readonly #timestampMs = new Float64Array(BLOCK_ROWS);
  readonly #numbers: readonly Float64Array[];
  /** Records before this time were read. An index would shift when an earlier report comes in. */
  #nextMs: number;

  constructor(device: Device, { startMs, endMs }: TimeRange, fields: readonly NumberFieldName[]) {
    this.#device = device;
    this.#nextMs = startMs;
    this.#endMs = endMs;
    this.#fields = [LATITUDE, LONGITUDE, ...fields.map(numberIndex)];
    this.#numbers = this.#fields.map(() => new Float64Array(BLOCK_ROWS));
  }

  /** Null if there are no more. */
  next(): PositionColumns | null {
    const device = this.#device;
    const from = device.countBefore(this.#nextMs);
    const to = Math.min(device.countBefore(this.#endMs), from + BLOCK_ROWS);
    if (from >= to) return null;
    let count = 0;
    device.runs(from, to, (chunk, rowFrom, rowTo) => {
      copyTimestamps(chunk, rowFrom, rowTo, this.#timestampMs, count);
      for (let i = 0; i < this.#fields.length; i++)
        copyField(chunk, this.#fields[i]!, rowFrom, rowTo, this.#numbers[i]!, count);
      count += rowTo - rowFrom;
    });
    this.#nextMs = this.#timestampMs[count - 1]! + 1;
    const [latitude, longitude, ...numbers] = this.#numbers;
    return { count, timestampMs: this.#timestampMs, latitude: latitude!, longitude: longitude!, numbers };
  }
}
