import { METERS_PER_MILE } from "../../../src/model/geo/distance.ts";
import { MS_PER_DAY } from "../../../src/model/time/units.ts";
import type { CircleQuery } from "../../../src/spatial/positions.ts";
import type { Point } from "../fleets/metropolis.ts";
import type { Random } from "../fleets/random.ts";
import { AGE_DAYS_MAX } from "./positions.ts";

/** What is asked of one fleet again and again, from another point each time. */
export interface Kind {
  readonly miles: number;
  readonly limit: number;
  /** How old positions may be: one day in every query, or another number of them, up to seven, in each. */
  readonly age: "24 h" | "random age";
}

export function kindText({ miles, limit, age }: Kind): string {
  return `${miles} mi, best ${limit}, ${age}`;
}

/** First pages without a bound on accuracy, from a point each; by place in the list, `nowMs` is when it is asked. */
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
