import type { FullReport } from "./fleet.ts";
import type { Metropolis } from "./metropolis.ts";
import { createRandom, type Random } from "./random.ts";

const STEP_DEGREES = 0.0005; // Some 50 m.
const DEGREE_DECIMALS = 6;

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

  #report(timestamp: number): FullReport {
    const index = this.#order[this.#next++ % this.#order.length]!;
    const { latitude, longitude } = this.#metropolis;
    return {
      ...this.#metropolis.report(index),
      timestamp,
      latitude: this.#near(latitude[index]!),
      longitude: this.#near(longitude[index]!),
    };
  }

  #near(degrees: number): number {
    return Number((degrees + (this.#random() * 2 - 1) * STEP_DEGREES).toFixed(DEGREE_DECIMALS));
  }
}
