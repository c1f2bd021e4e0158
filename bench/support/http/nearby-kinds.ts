import { median } from "../figures/report.ts";
import type { Point } from "../fleets/metropolis.ts";
import { createRandom } from "../fleets/random.ts";
import { openHttpClient } from "../servers/http-client.ts";
import { getRequest } from "../servers/load.ts";
import type { Goals } from "./pairs.ts";
import type { Sized } from "./sized.ts";

/** A kind of nearby query, with a new center each time. */
export interface NearbyKind extends Goals {
  readonly name: string;
  readonly miles: number;
  readonly limit: number;
  readonly age: "24 h" | "random age";
  readonly timezone?: string;
  /** The chosen fields; absent for whole records. */
  readonly fields?: string;
}

/** The kind that other parts use too. */
export const BEST_100 = "nearby, 5 mi, best 100";

/** A page of the kind above, whose records have only the fields of a position. */
const POSITIONS_100 = "nearby, 5 mi, best 100, positions alone";

export const NEARBY_KINDS: readonly NearbyKind[] = [
  {
    name: BEST_100,
    miles: 5,
    limit: 100,
    age: "24 h",
    ...{ shareMin: 0.3, timesBusyMax: 2.6, cpuMsMax: 0.062 },
  },
  {
    name: "nearby, 1 mi, best 10",
    miles: 1,
    limit: 10,
    age: "24 h",
    ...{ shareMin: 0.45, timesBusyMax: 1.5, cpuMsMax: 0.026 },
  },
  { name: "nearby, 5 mi, best 10", miles: 5, limit: 10, age: "24 h" },
  { name: "nearby, 5 mi, best 1,000", miles: 5, limit: 1000, age: "24 h" },
  { name: "nearby, 50 mi, best 100", miles: 50, limit: 100, age: "24 h" },
  {
    name: "nearby, 5 mi, best 100, local times",
    miles: 5,
    limit: 100,
    age: "24 h",
    timezone: "America/New_York",
  },
  { name: "nearby, 5 mi, best 100, random age", miles: 5, limit: 100, age: "random age" },
  {
    name: POSITIONS_100,
    miles: 5,
    limit: 100,
    age: "24 h",
    fields: "latitude,longitude",
    cpuMsMax: 0.048,
  },
];

/** Queries of one kind. */
export interface NearbyQuestions extends Sized {
  readonly kind: NearbyKind;
  readonly asked: readonly NearbyQuestion[];
  /** The number of skipped points without a full page. */
  readonly leftOut: number;
}

export interface NearbyQuestion {
  readonly center: Point;
  readonly ageHours: number;
  readonly path: string;
}

const AGE_HOURS_MAX = 7 * 24;

export function nearbyQuestion(kind: NearbyKind, center: Point, ageHours: number): NearbyQuestion {
  const { latitude, longitude } = center;
  const parameters = new URLSearchParams({
    latitude: String(latitude),
    longitude: String(longitude),
    radius_miles: String(kind.miles),
    max_age_hours: String(ageHours),
    limit: String(kind.limit),
    ...(kind.timezone === undefined ? {} : { timezone: kind.timezone }),
    ...(kind.fields === undefined ? {} : { fields: kind.fields }),
  });
  return { center, ageHours, path: `/api/v1/devices/nearby?${parameters}` };
}

export interface ChooseOptions {
  readonly url: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly kind: NearbyKind;
  /** More points than queries, since some are too far out for a full page. */
  readonly points: readonly Point[];
  readonly count: number;
  readonly seed: number;
}

/** Queries every point once, and takes the first ones with a full page; all if none has one. */
export async function chooseQuestions(options: ChooseOptions): Promise<NearbyQuestions> {
  const { url, headers, kind, points, count, seed } = options;
  const random = createRandom(seed);
  const client = await openHttpClient(url);
  const full: (NearbyQuestion & { readonly bytes: number })[] = [];
  const short: typeof full = [];
  for (const center of points) {
    if (full.length === count) break;
    const ageHours = kind.age === "24 h" ? 24 : Number((1 + random() * (AGE_HOURS_MAX - 1)).toFixed(3));
    const question = nearbyQuestion(kind, center, ageHours);
    const body = await client.ask(getRequest(url + question.path, headers));
    (pageCount(body) === kind.limit ? full : short).push({ ...question, bytes: body.length });
  }
  client.close();
  const asked = full.length > 0 ? full : short;
  return {
    kind,
    asked,
    leftOut: full.length > 0 ? short.length : 0,
    paths: asked.map(({ path }) => path),
    headers,
    answerBytes: median(asked.map(({ bytes }) => bytes)),
  };
}

/** The number of results, read from the end of the page, since parsing would take longer than the query. */
export function pageCount(body: Buffer): number {
  const end = body.toString("latin1", Math.max(0, body.length - 300));
  return Number(/"pagination":\{"count":(\d+)/.exec(end)![1]);
}
