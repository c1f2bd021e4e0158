import type { Device } from "../devices/device.ts";
import type { DeviceColumns } from "../devices/device-columns.ts";

/**
 * Records in memory, of all apps, that changed since somebody began to ask. As long as a device has one in memory, no
 * other gets its number.
 */
export class ChangedRecords {
  /** Timestamps, by columns and number of the device. */
  readonly #records = new Map<DeviceColumns, Map<number, Set<number>>>();
  #count = 0;

  get count(): number {
    return this.#count;
  }

  note({ columns, number }: Device, timestampMs: number): void {
    let devices = this.#records.get(columns);
    if (devices === undefined) {
      devices = new Map();
      this.#records.set(columns, devices);
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

  has({ columns, number }: Device, timestampMs: number): boolean {
    return this.#records.get(columns)?.get(number)?.has(timestampMs) === true;
  }
}
