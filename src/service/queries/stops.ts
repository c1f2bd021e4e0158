import { inOneStep, type Steps } from "../../lib/schedule/steps.ts";
import {
  latitudeOf,
  longitudeOf,
  metersBetween,
  squaredChordOf,
  type UnitVector,
  unitVector,
} from "../../model/geo/unit-vector.ts";
import { MS_PER_MINUTE } from "../../model/time/units.ts";
import {
  type PositionBlock,
  type PositionReading,
  SILENCE_MS_MAX,
  SPEED_MAX_METERS_PER_SECOND,
} from "./positions.ts";
import { type FinishedStay, type Fix, Stay } from "./stay.ts";

/*
 * The stops of a device, and the paths between them, in one pass over its positions. `docs/maps.md` has the rule.
 */

export interface StopsQuery {
  /** The least duration of a stop. */
  readonly durationMsMin: number;
  readonly radiusMeters: number;
}

/** What counts as a stop unless a question says otherwise. */
export const USUAL_STOP: StopsQuery = { durationMsMin: 5 * MS_PER_MINUTE, radiusMeters: 100 };

export interface Stop {
  /** Unix ms of its first and its last position. */
  readonly start: number;
  readonly end: number;
  /** The center, in degrees. */
  readonly latitude: number;
  readonly longitude: number;
  /** Positions within the radius of the center. */
  readonly positions: number;
}

export interface Stops {
  /** Oldest first. */
  readonly stops: readonly Stop[];
  readonly distanceMeters: number;
  readonly movingMs: number;
}

/** Consecutive positions that may lie outside a continuing stay, for at most twice the least duration. */
const STRAYS_MAX = 2;
/** More positions may lie outside for this time: a phone that reports each second drifts for a while. */
const DRIFT_MS_MAX = 60_000;
/** Limits how often a position is tested. */
const DRIFT_POSITIONS_MAX = 64;

/** Positions of a step: in a hostile path each is tested 64 times, which takes about 3 µs. */
const STEP_POSITIONS = 256;

/** Positions are rounded to about a centimeter. */
const DEGREE_STEPS = 1e7;

export class StopFinder implements PositionReading<Stops> {
  readonly #query: StopsQuery;
  readonly #reach: number;
  readonly #odometer = new Odometer();
  readonly #stops: Stop[] = [];
  #block: PositionBlock | null = null;
  #stay: Stay | null = null;
  /** Positions after the last one of the stay: strays, or the beginning of a path. */
  #away: Fix[] = [];
  /** The end of the last stop. */
  #left: Pick<Fix, "meters" | "heardMs"> = { meters: 0, heardMs: 0 };
  #distanceMeters = 0;
  #movingMs = 0;

  constructor(query: StopsQuery) {
    this.#query = query;
    this.#reach = squaredChordOf(query.radiusMeters);
  }

  add(block: PositionBlock): void {
    this.#block = block;
  }

  *work(): Steps<void> {
    const { count, timestampMs, latitude, longitude } = this.#block!;
    for (let i = 0; i < count; i++) {
      const at = unitVector(latitude[i]!, longitude[i]!);
      this.#odometer.add(timestampMs[i]!, at);
      const { meters, heardMs } = this.#odometer;
      this.#take({ ...at, timestampMs: timestampMs[i]!, meters, heardMs });
      if (i % STEP_POSITIONS === STEP_POSITIONS - 1) yield;
    }
  }

  end(): Steps<Stops> {
    return inOneStep(() => {
      while (this.#stay !== null) this.#leave();
      this.#moveTo(this.#odometer);
      return { stops: this.#stops, distanceMeters: this.#distanceMeters, movingMs: this.#movingMs };
    });
  }

  #take(fix: Fix): void {
    if (this.#stay === null) {
      this.#stay = new Stay(fix, this.#reach);
      return;
    }
    const awayMs = fix.timestampMs - this.#stay.lastMs;
    if (!this.#stay.holds(fix)) {
      this.#away.push(fix);
      if (!this.#mayReturn(awayMs)) this.#leave();
    } else if (this.#away.length === 0) {
      this.#stay.join(fix, 0);
    } else if (this.#isBack(awayMs)) {
      this.#away = [];
      this.#stay.join(fix, awayMs);
    } else {
      this.#away.push(fix);
      this.#leave();
    }
  }

  /** Whether the positions in `#away` may turn out to be strays. */
  #mayReturn(awayMs: number): boolean {
    const { length } = this.#away;
    return length <= STRAYS_MAX || (awayMs <= DRIFT_MS_MAX && length <= DRIFT_POSITIONS_MAX);
  }

  /** Whether they were strays, now that the device is at the stay again. */
  #isBack(awayMs: number): boolean {
    if (awayMs <= DRIFT_MS_MAX) return true;
    return this.#away.length <= STRAYS_MAX && awayMs <= 2 * this.#query.durationMsMin;
  }

  /** Ends the stay. Positions that don't belong to it are processed again. */
  #leave(): void {
    this.#keep(this.#stay!.finish());
    const away = this.#away;
    this.#stay = null;
    this.#away = [];
    for (const fix of away) this.#take(fix);
  }

  /** Adds the stay as a stop if it lasted long enough, and strays took less than half of it. */
  #keep({ center, first, last, positions, awayMs }: FinishedStay): void {
    const durationMs = last.timestampMs - first.timestampMs;
    if (durationMs < this.#query.durationMsMin || 2 * awayMs >= durationMs) return;
    this.#stops.push({
      start: first.timestampMs,
      end: last.timestampMs,
      latitude: rounded(latitudeOf(center)),
      longitude: rounded(longitudeOf(center)),
      positions,
    });
    this.#moveTo(first);
    this.#left = last;
  }

  /** Adds the path from the last stop. */
  #moveTo({ meters, heardMs }: Pick<Fix, "meters" | "heardMs">): void {
    this.#distanceMeters += meters - this.#left.meters;
    this.#movingMs += heardMs - this.#left.heardMs;
  }
}

function rounded(degrees: number): number {
  return Math.round(degrees * DEGREE_STEPS) / DEGREE_STEPS + 0; // Adding 0 turns -0 into 0.
}

const SPEED_MAX_METERS_PER_MS = SPEED_MAX_METERS_PER_SECOND / 1000;

/** Adds up path length and observed time, position by position. */
export class Odometer {
  /** Length of the path, without impossible steps. */
  meters = 0;
  /** Time without silences. */
  heardMs = 0;
  #last: Reached | null = null;
  /** A position that is too far from the last one, until the next position shows which of the two is wrong. */
  #doubted: Reached | null = null;
  #lastHeardMs = Number.NaN;

  add(timestampMs: number, at: UnitVector): void {
    const silentMs = timestampMs - this.#lastHeardMs;
    if (silentMs <= SILENCE_MS_MAX) this.heardMs += silentMs;
    this.#lastHeardMs = timestampMs;
    const reached = { timestampMs, at };
    if (this.#last === null || this.#goOn(this.#last, reached)) this.#last = reached;
    else if (this.#doubted !== null && this.#goOn(this.#doubted, reached)) this.#last = reached;
    else {
      this.#doubted = reached;
      return;
    }
    this.#doubted = null;
  }

  /** Adds the step if it is possible. */
  #goOn(from: Reached, to: Reached): boolean {
    const meters = metersBetween(from.at, to.at);
    if (meters > SPEED_MAX_METERS_PER_MS * (to.timestampMs - from.timestampMs)) return false;
    this.meters += meters;
    return true;
  }
}

interface Reached {
  readonly timestampMs: number;
  readonly at: UnitVector;
}
