import { Instants } from "./instants.ts";

/** Instants of devices, by device number. Few devices have any. */
export class DeviceInstants {
  readonly #byDevice = new Map<number, Instants>();

  has(device: number, timestampMs: number): boolean {
    return this.#byDevice.size > 0 && this.#byDevice.get(device)?.has(timestampMs) === true;
  }

  hasAny(device: number): boolean {
    return this.#byDevice.has(device);
  }

  /** Sorted. */
  timesOf(device: number): Float64Array {
    return this.#byDevice.get(device)?.times ?? NONE;
  }

  /** Adds sorted instants, each of which must be new. */
  add(device: number, timestampMs: Float64Array): void {
    const instants = this.#byDevice.get(device) ?? new Instants();
    instants.add(timestampMs);
    if (instants.count > 0) this.#byDevice.set(device, instants);
  }

  /** Removes sorted instants. */
  remove(device: number, timestampMs: Float64Array): void {
    const instants = this.#byDevice.get(device);
    instants?.remove(timestampMs);
    if (instants?.count === 0) this.#byDevice.delete(device);
  }
}

const NONE = new Float64Array(0);
