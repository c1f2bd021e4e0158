/** Where a device was last, as its file tells. */
export interface LastPoint {
  timestampMs: number;
  latitude: number;
  longitude: number;
}

/** Devices that are remembered. Files of more jump between them so much that the last point says little. */
const DEVICES_MAX = 10_000;

/**
 * The last point of each device that a file told of lately. There are two generations, of which the older is given up
 * where the newer is full, so that a file of ever new devices takes no more memory.
 */
export class LastPoints {
  #newer = new Map<string, LastPoint>();
  #older = new Map<string, LastPoint>();
  #deviceId = "";
  #last: LastPoint | null = null; // Of that device, which most points are of.

  /** The last point of the device, to be overwritten by this one; null where none is known. */
  find(deviceId: string): LastPoint | null {
    if (deviceId === this.#deviceId) return this.#last;
    return this.#newer.get(deviceId) ?? this.#older.get(deviceId) ?? null;
  }

  keep(deviceId: string, point: LastPoint): void {
    if (deviceId === this.#deviceId) return; // The one that was overwritten.
    this.#deviceId = deviceId;
    this.#last = point;
    if (this.#newer.size >= DEVICES_MAX) {
      this.#older = this.#newer;
      this.#newer = new Map();
    }
    this.#newer.set(deviceId, point);
  }
}
