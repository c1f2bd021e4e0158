import { MS_PER_DAY } from "../../../src/model/time/units.ts";
import { createRandom } from "../fleets/random.ts";
import type { Contestant } from "./contestant.ts";
import { AGE_DAYS_MAX, NOW_MS, type PositionColumns, stepFrom } from "./positions.ts";

/** About 100 m. */
const STEP_DEGREES = 0.001;

/** A sequence of moves. */
export interface Moves {
  readonly device: Uint32Array;
  readonly latitude: Float64Array;
  readonly longitude: Float64Array;
  readonly timestampMs: Float64Array;
  readonly accuracyMeters: Float64Array;
}

/** Devices that move a little, one at random at a time, while time advances. */
export interface Walk {
  next(count: number): Moves;
  /** The time of the latest move. */
  readonly nowMs: number;
}

/**
 * Time advances so that the share of old positions stays about constant: each device moves once in seven days on
 * average. The columns are not changed.
 */
export function createWalk(positions: PositionColumns, seed: number): Walk {
  const random = createRandom(seed);
  const latitude = positions.latitude.slice();
  const longitude = positions.longitude.slice();
  const devices = latitude.length;
  const stepMs = Math.max(1, (AGE_DAYS_MAX * MS_PER_DAY) / devices);
  let nowMs = NOW_MS;
  return {
    get nowMs() {
      return nowMs;
    },
    next(count) {
      const moves: Moves = {
        device: new Uint32Array(count),
        latitude: new Float64Array(count),
        longitude: new Float64Array(count),
        timestampMs: new Float64Array(count),
        accuracyMeters: new Float64Array(count),
      };
      for (let move = 0; move < count; move++) {
        const device = Math.floor(random() * devices);
        const from = { latitude: latitude[device]!, longitude: longitude[device]! };
        const to = stepFrom(from, STEP_DEGREES, random);
        latitude[device] = to.latitude;
        longitude[device] = to.longitude;
        nowMs += stepMs;
        moves.device[move] = device;
        moves.latitude[move] = to.latitude;
        moves.longitude[move] = to.longitude;
        moves.timestampMs[move] = Math.floor(nowMs);
        moves.accuracyMeters[move] = positions.accuracyMeters[device]!;
      }
      return moves;
    },
  };
}

/** Applies the moves from `start` to before `end`. */
export function applyMoves(
  set: NonNullable<Contestant["set"]>,
  moves: Moves,
  start: number,
  end: number,
): void {
  const { device, latitude, longitude, timestampMs, accuracyMeters } = moves;
  for (let move = start; move < end; move++)
    set(device[move]!, latitude[move]!, longitude[move]!, timestampMs[move]!, accuracyMeters[move]!);
}
