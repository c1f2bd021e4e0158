import type { FullReport } from "../../fleets/fleet.ts";
import type { Metropolis } from "../../fleets/metropolis.ts";
import { createRandom } from "../../fleets/random.ts";

const STEP_DEGREES = 0.0005; // Some 50 m.
const DEGREE_DECIMALS = 6;

/**
 * The moves of a metropolis: devices with a report since `oldestMs` take turns. A move does not depend on its time or
 * writer, so that peers with equally many moves agree.
 */
export class PeerMoves {
  readonly #metropolis: Metropolis;
  readonly #devices: readonly number[];
  readonly #reports: readonly FullReport[];
  readonly #seed: number;

  constructor(metropolis: Metropolis, oldestMs: number, seed: number) {
    this.#metropolis = metropolis;
    this.#devices = [...metropolis.timestampMs.keys()].filter(
      (index) => metropolis.timestampMs[index]! >= oldestMs,
    );
    this.#reports = this.#devices.map(metropolis.report);
    this.#seed = seed;
  }

  /** The report of a move at that time. */
  report(move: number, timestamp: number): FullReport {
    return { ...this.#reports[move % this.#reports.length]!, timestamp, ...this.#placeAfter(move) };
  }

  /** All positions after `count` moves. */
  after(count: number): Pick<Metropolis, "latitude" | "longitude"> {
    const latitude = this.#metropolis.latitude.slice();
    const longitude = this.#metropolis.longitude.slice();
    for (let move = Math.max(0, count - this.#devices.length); move < count; move++) {
      const index = this.#devices[move % this.#devices.length]!;
      const place = this.#placeAfter(move);
      latitude[index] = place.latitude;
      longitude[index] = place.longitude;
    }
    return { latitude, longitude };
  }

  #placeAfter(move: number): { readonly latitude: number; readonly longitude: number } {
    const index = this.#devices[move % this.#devices.length]!;
    const random = createRandom(this.#seed + move);
    const near = (degrees: number) =>
      Number((degrees + (random() * 2 - 1) * STEP_DEGREES).toFixed(DEGREE_DECIMALS));
    const latitude = near(this.#metropolis.latitude[index]!);
    return { latitude, longitude: near(this.#metropolis.longitude[index]!) };
  }
}
