import type { Device } from "../devices/device.ts";
import type { DeviceColumns } from "../devices/device-columns.ts";
import { type Chunk, copyRows, profileAt, stateAt, timestampAt } from "../records/chunk.ts";
import type { Dictionary } from "../records/dictionary.ts";
import type { RowRef } from "../records/long-track.ts";

/** A copy of a record before it changed, in a chunk of its own. */
export interface SavedRecord {
  readonly chunk: Chunk;
  /** How many fixes of its instant are stored beside it. */
  fixCount: number;
}

/**
 * Records in memory, of all apps, that changed since this object was created, and their former values. While a device
 * has one of its records in memory, its number is not reused.
 */
export class ChangedRecords {
  /** By columns and number of the device, then by timestamp; null for a record that did not exist before. */
  readonly #records = new Map<DeviceColumns, Map<number, Map<number, SavedRecord | null>>>();
  #count = 0;

  get count(): number {
    return this.#count;
  }

  /** Records that the record did not exist before. */
  noteNew(columns: DeviceColumns, device: number, timestampMs: number): void {
    this.#note(columns, device, timestampMs, null);
  }

  /** Saves the record before its first change. The copy retains its texts until `release()`. */
  save(
    columns: DeviceColumns,
    device: number,
    timestampMs: number,
    { chunk, row }: RowRef,
    dictionary: Dictionary,
  ): SavedRecord {
    const fixCount = columns.fixes.find(device, timestampMs)?.count ?? 0;
    const saved = { chunk: copyRows(chunk, row, row + 1, 1, chunk.mask), fixCount };
    dictionary.retain(profileAt(chunk, row), stateAt(chunk, row));
    this.#note(columns, device, timestampMs, saved);
    return saved;
  }

  has({ columns, number }: Pick<Device, "columns" | "number">, timestampMs: number): boolean {
    return this.#records.get(columns)?.get(number)?.has(timestampMs) === true;
  }

  /** The record before it changed, null if it did not exist, undefined if it did not change. */
  savedOf(columns: DeviceColumns, device: number, timestampMs: number): SavedRecord | null | undefined {
    return this.#records.get(columns)?.get(device)?.get(timestampMs);
  }

  /**
   * Removes the fixes that were stored when their record was saved, since they are archived, except the last of an
   * instant.
   */
  removeSavedFixes(): void {
    for (const [columns, devices] of this.#records) {
      for (const [device, records] of devices) {
        for (const saved of records.values()) {
          if (saved === null || saved.fixCount === 0) continue;
          columns.fixes.find(device, timestampAt(saved.chunk, 0))!.removeFirst(saved.fixCount);
          saved.fixCount = 0;
        }
      }
    }
  }

  removeFixes(): void {
    for (const [columns, devices] of this.#records) {
      for (const [device, records] of devices)
        for (const timestampMs of records.keys()) columns.fixes.remove(device, timestampMs);
    }
  }

  /** Forgets all changes and releases the texts of the saved records. */
  release(dictionary: Dictionary): void {
    for (const devices of this.#records.values()) {
      for (const records of devices.values()) {
        for (const saved of records.values())
          if (saved !== null) dictionary.release(profileAt(saved.chunk, 0), stateAt(saved.chunk, 0));
      }
    }
    this.#records.clear();
  }

  #note(columns: DeviceColumns, device: number, timestampMs: number, saved: SavedRecord | null): void {
    let devices = this.#records.get(columns);
    if (devices === undefined) {
      devices = new Map();
      this.#records.set(columns, devices);
    }
    let records = devices.get(device);
    if (records === undefined) {
      records = new Map();
      devices.set(device, records);
    }
    records.set(timestampMs, saved);
    this.#count++;
  }
}
