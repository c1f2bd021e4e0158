import type { Device } from "../devices/device.ts";
import type { DeviceTable } from "../devices/device-table.ts";

/**
 * Records in memory, of all apps, that changed since somebody began to ask. As long as a device has one in memory, no
 * other gets its number.
 */
export class ChangedRecords {
  /** Timestamps, by table and number of the device. */
  readonly #records = new Map<DeviceTable, Map<number, Set<number>>>();
  #count = 0;

  get count(): number {
    return this.#count;
  }

  note({ table, number }: Device, timestampMs: number): void {
    let devices = this.#records.get(table);
    if (devices === undefined) {
      devices = new Map();
      this.#records.set(table, devices);
    }
    let timestamps = devices.get(number);
    if (timestamps === undefined) {
      timestamps = new Set();
      devices.set(number, timestamps);
    }
    if (timestamps.has(timestampMs)) return;
    timestamps.add(timestampMs);
    this.#count++;
  }

  has({ table, number }: Device, timestampMs: number): boolean {
    return this.#records.get(table)?.get(number)?.has(timestampMs) === true;
  }
}
