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
  /** Whether a correction has taken the record away. */
  isGone: boolean;
}

/** A record that a correction took away before the seal had read it, as it was when the seal began. */
export interface LeftRecord {
  readonly device: number;
  readonly saved: SavedRecord;
  /** The fixes that were stored beside it. */
  readonly fixes: readonly Float64Array[];
}

/**
 * Records in memory, of all apps, that changed since this object was created, and their former values. While a device
 * has one of its records in memory, its number is not reused.
 */
export class ChangedRecords {
  /** By columns and number of the device, then by timestamp; null for a record that did not exist before. */
  readonly #records = new Map<DeviceColumns, Map<number, Map<number, SavedRecord | null>>>();
  /** Records that the seal must still read although they are gone, by columns, then by device and timestamp. */
  readonly #left = new Map<DeviceColumns, Map<string, LeftRecord>>();
  #count = 0;
  /** Whether the seal has read the record of a device at this time; null before it reads the day. */
  hasRead: ((columns: DeviceColumns, device: number, timestampMs: number) => boolean) | null = null;

  /** How many of them are in memory. */
  get count(): number {
    return this.#count;
  }

  /** Notes that a correction takes a record away, before it does. */
  leave(
    columns: DeviceColumns,
    device: number,
    timestampMs: number,
    ref: RowRef,
    dictionary: Dictionary,
  ): void {
    const known = this.savedOf(columns, device, timestampMs);
    if (known === null) {
      this.#records.get(columns)!.get(device)!.delete(timestampMs);
      this.#count--;
      return;
    }
    const saved = known ?? this.save(columns, device, timestampMs, ref, dictionary);
    saved.isGone = true;
    this.#count--;
    if (this.hasRead?.(columns, device, timestampMs) === true) return;
    const list = columns.fixes.find(device, timestampMs);
    const fixes = Array.from({ length: saved.fixCount }, (_, index) => list!.at(index).slice());
    const left = this.#left.get(columns) ?? new Map<string, LeftRecord>();
    left.set(`${device} ${timestampMs}`, { device, saved, fixes });
    this.#left.set(columns, left);
  }

  /** Notes that a correction, or its undoing, brings a record. */
  arrive(columns: DeviceColumns, device: number, timestampMs: number): void {
    const known = this.savedOf(columns, device, timestampMs);
    if (known === undefined || known === null) this.noteNew(columns, device, timestampMs);
    else {
      known.isGone = false;
      this.#count++;
    }
  }

  /** The record as it was when the seal began, if it was gone before the seal read it; it then counts as read. */
  takeLeft(columns: DeviceColumns, device: number, timestampMs: number): LeftRecord | null {
    const left = this.#left.get(columns);
    if (left === undefined) return null;
    const key = `${device} ${timestampMs}`;
    const record = left.get(key) ?? null;
    left.delete(key);
    return record;
  }

  /** All that `takeLeft()` did not take yet. */
  takeAllLeft(columns: DeviceColumns): LeftRecord[] {
    const left = [...(this.#left.get(columns)?.values() ?? [])];
    this.#left.delete(columns);
    return left;
  }

  /** Records that are gone, as they were before. */
  *goneOf(columns: DeviceColumns): Iterable<readonly [number, SavedRecord]> {
    for (const [device, records] of this.#records.get(columns) ?? [])
      for (const saved of records.values()) if (saved?.isGone === true) yield [device, saved];
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
    const saved = { chunk: copyRows(chunk, row, row + 1, 1, chunk.mask), fixCount, isGone: false };
    dictionary.retain(profileAt(chunk, row), stateAt(chunk, row));
    this.#note(columns, device, timestampMs, saved);
    return saved;
  }

  /** Whether a record in memory is one that changed. After one is gone, there may be a copy of what took its place. */
  has({ columns, number }: Pick<Device, "columns" | "number">, timestampMs: number): boolean {
    const saved = this.savedOf(columns, number, timestampMs);
    return saved !== undefined && saved?.isGone !== true;
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
          columns.fixes.find(device, timestampAt(saved.chunk, 0))?.removeFirst(saved.fixCount);
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
    this.#left.clear();
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
