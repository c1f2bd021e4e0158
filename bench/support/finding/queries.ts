import { METERS_PER_MILE } from "../../../src/model/geo/distance.ts";
import { MS_PER_DAY } from "../../../src/model/time/units.ts";
import type { CircleQuery } from "../../../src/spatial/positions.ts";
import type { Point } from "../fleets/metropolis.ts";
import type { Random } from "../fleets/random.ts";
import { AGE_DAYS_MAX } from "./positions.ts";

/** A kind of query of one fleet, with a new center each time. */
export interface Kind {
  readonly miles: number;
  readonly limit: number;
  /** The maximum age: one day in every query, or a random number of up to seven days. */
  readonly age: "24 h" | "random age";
}

export function kindText({ miles, limit, age }: Kind): string {
  return `${miles} mi, best ${limit}, ${age}`;
}

/** First pages without a bound on accuracy, one per center; `nowMs` has the time of each query. */
export function createQueries(
  centers: readonly Point[],
  { miles, limit, age }: Kind,
  nowMs: (place: number) => number,
  random: Random,
): readonly CircleQuery[] {
  return centers.map(({ latitude, longitude }, place) => ({
    latitude,
    longitude,
    radiusMeters: miles * METERS_PER_MILE,
    oldestMs: nowMs(place) - Math.floor((age === "24 h" ? 1 : random() * AGE_DAYS_MAX) * MS_PER_DAY),
    accuracyMetersMax: Number.POSITIVE_INFINITY,
    offset: 0,
    limit,
  }));
}
