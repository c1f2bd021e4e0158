import type { FullReport } from "./fleet.ts";
import type { Metropolis } from "./metropolis.ts";
import { createRandom, type Random } from "./random.ts";

const STEP_DEGREES = 0.0005; // Some 50 m.
/** Of a hundred reports, those that say that a device has set off or come to rest. */
const TURNS_PERCENT = 10;

export interface MovingDevicesOptions {
  readonly metropolis: Metropolis;
  /** Who moves, by index. */
  readonly devices: readonly number[];
  readonly batchSize: number;
  readonly seed: number;
}

/** Devices of a metropolis that report in full, one after the other in an order of chance, again and again. */
export class MovingDevices {
  readonly #metropolis: Metropolis;
  readonly #order: readonly number[];
  readonly #batchSize: number;
  readonly #random: Random;
  #next = 0;

  constructor({ metropolis, devices, batchSize, seed }: MovingDevicesOptions) {
    this.#metropolis = metropolis;
    this.#batchSize = batchSize;
    this.#random = createRandom(seed);
    const keys = new Map(devices.map((device) => [device, this.#random()]));
    this.#order = devices.toSorted((a, b) => keys.get(a)! - keys.get(b)!);
  }

  /** Reports of that time, as a body. */
  body(timestampMs: number): Uint8Array {
    const locations = Array.from({ length: this.#batchSize }, () => this.#report(timestampMs));
    return new TextEncoder().encode(JSON.stringify({ locations }));
  }

  /** What a sensor reads is new each time; the rest of a report hardly ever is. */
  #report(timestamp: number): FullReport {
    const index = this.#order[this.#next++ % this.#order.length]!;
    const { latitude, longitude } = this.#metropolis;
    const report = this.#metropolis.report(index);
    const turned = report.type === "MOVING" ? "STATIONARY" : "MOVING";
    return {
      ...report,
      timestamp,
      latitude: this.#near(latitude[index]!),
      longitude: this.#near(longitude[index]!),
      horizontal_accuracy: this.#reading(3, 20, 2),
      vertical_accuracy: this.#reading(2, 10, 2),
      altitude: this.#reading(5, 40, 1),
      speed: this.#reading(0, 20, 2),
      bearing: this.#reading(0, 359, 1),
      type: this.#random() * 100 < TURNS_PERCENT ? turned : report.type!,
    };
  }

  #near(degrees: number): number {
    return this.#reading(degrees - STEP_DEGREES, 2 * STEP_DEGREES, 6);
  }

  #reading(from: number, range: number, decimals: number): number {
    return Number((from + this.#random() * range).toFixed(decimals));
  }
}
