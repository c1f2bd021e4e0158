import type { FullReport } from "./fleet.ts";
import type { Metropolis } from "./metropolis.ts";
import { createRandom, type Random } from "./random.ts";

const STEP_DEGREES = 0.0005; // Some 50 m.
/** The percentage of reports with a start or stop. */
const TURNS_PERCENT = 10;

export interface MovingDevicesOptions {
  readonly metropolis: Metropolis;
  /** The indexes of moving devices. */
  readonly devices: readonly number[];
  readonly batchSize: number;
  readonly seed: number;
}

/** Devices of a metropolis that send full reports repeatedly, in random order. */
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

  /** Returns reports of that time, as a body. */
  body(timestampMs: number): Uint8Array {
    const locations = Array.from({ length: this.#batchSize }, () => this.#report(timestampMs));
    return new TextEncoder().encode(JSON.stringify({ locations }));
  }

  /** Sensor values change each time; the other fields hardly ever do. */
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
