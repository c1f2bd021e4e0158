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

/** Rows of a chunk, 360 KB: a growing column copies no more than that at a time, however many devices there are. */
const CHUNK_BITS = 12;
const CHUNK_ROWS = 2 ** CHUNK_BITS;
const ROW_MASK = CHUNK_ROWS - 1;

/**
 * The newest archived record of each device that has one. The device number is the row, in chunks of which only the
 * first grows. A chunk per device would take five times its record.
 */
export class ArchivedRows {
  /** Undefined for a chunk none of whose devices has a row. */
  readonly #chunks: (Chunk | undefined)[] = [];
  /** The end of the times of rows that were removed, by device: the archive may have others before it. */
  readonly #removedEndMs = new Map<number, number>();
  readonly #numbers = new Float64Array(NUMBER_FIELDS.length);
  readonly #table: DeviceTable;
  readonly #dictionary: Dictionary;

  constructor(table: DeviceTable, dictionary: Dictionary) {
    this.#table = table;
    this.#dictionary = dictionary;
  }

  /** The device's row. The reference is valid until a row is written. */
  at(device: number): RowRef {
    return { chunk: this.#chunks[device >>> CHUNK_BITS]!, row: device & ROW_MASK };
  }

  /** The newest record of a device that has one, in memory or archived. */
  newest(device: number): RowRef {
    return this.findNewest(device)!;
  }

  /** The newest record of a device, in memory or archived; null if it has none. */
  findNewest(device: number): RowRef | null {
    const { tracks, archivedTimes } = this.#table.columns;
    const archivedMs = archivedTimes.of(device);
    const inTrack = tracks.findNewest(device);
    if (archivedMs === Number.NEGATIVE_INFINITY) return inTrack;
    return inTrack !== null && timestampAt(inTrack.chunk, inTrack.row) >= archivedMs
      ? inTrack
      : this.at(device);
  }

  /** Writes a row from a batch, with the dictionary's numbers of its profile and state. */
  write(device: number, batch: ReportBatch, row: number, profile: number, state: number): void {
    const timestampMs = batch.timestampMs[row]!;
    writeRow(this.#chunkFor(device), device & ROW_MASK, timestampMs, batch.numbers, row);
    this.#setTuples(device, profile, state);
    this.#table.columns.archivedTimes.set(device, timestampMs);
  }

  /** Copies a row from another chunk, perhaps with another profile. */
  set(device: number, { chunk, row }: RowRef, profile = profileAt(chunk, row)): void {
    const timestampMs = timestampAt(chunk, row);
    const target = this.#chunkFor(device);
    const targetRow = device & ROW_MASK;
    copyNumbers(chunk, row, this.#numbers, 0);
    setTimestamp(target, targetRow, timestampMs);
    this.#numbers.forEach((value, field) => {
      setNumber(target, targetRow, field, value);
    });
    this.#setTuples(device, profile, stateAt(chunk, row));
    this.#table.columns.archivedTimes.set(device, timestampMs);
  }

  /**
   * Before this time the archive may have records of the device; of one at it, the row is here. -Infinity if it has
   * none.
   */
  endMs(device: number): number {
    const removedEndMs = this.#removedEndMs.get(device) ?? Number.NEGATIVE_INFINITY;
    return Math.max(this.#table.columns.archivedTimes.of(device), removedEndMs);
  }

  /** Notes that the archive may have records of the device before a time. */
  noteEnd(device: number, endMs: number): void {
    if (endMs > this.endMs(device)) this.#removedEndMs.set(device, endMs);
  }

  /** Takes away the device's row, if it has one. The archive may have older ones. */
  remove(device: number): void {
    const timestampMs = this.#table.columns.archivedTimes.of(device);
    this.#release(device);
    if (timestampMs > Number.NEGATIVE_INFINITY) this.noteEnd(device, timestampMs + 1);
  }

  /** Forgets the device. */
  forget(device: number): void {
    this.#release(device);
    this.#removedEndMs.delete(device);
  }

  #release(device: number): void {
    const { archivedTimes } = this.#table.columns;
    if (archivedTimes.of(device) === Number.NEGATIVE_INFINITY) return;
    const { chunk, row } = this.at(device);
    this.#dictionary.release(profileAt(chunk, row), stateAt(chunk, row));
    archivedTimes.set(device, Number.NEGATIVE_INFINITY);
  }

  /** Replaces the profile and state of the device's row, if it had any. */
  #setTuples(device: number, profile: number, state: number): void {
    this.#dictionary.retain(profile, state);
    this.#release(device);
    const { chunk, row } = this.at(device);
    setTuples(chunk, row, profile, state);
  }

  /** The chunk of the device, grown to have its row. */
  #chunkFor(device: number): Chunk {
    const index = device >>> CHUNK_BITS;
    const row = device & ROW_MASK;
    const chunk = this.#chunks[index] ?? createChunk(index === 0 ? 0 : CHUNK_ROWS, ALL_FIELDS);
    const { capacity } = chunk;
    const rows = Math.min(CHUNK_ROWS, Math.max(row + 1, capacity * 2));
    this.#chunks[index] = row < capacity ? chunk : copyRows(chunk, 0, capacity, rows, ALL_FIELDS);
    return this.#chunks[index];
  }
}
