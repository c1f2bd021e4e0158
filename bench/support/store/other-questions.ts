import { MS_PER_DAY } from "../../../src/model/time/units.ts";
import { utcDayName, utcDayOf } from "../../../src/model/time/utc-day.ts";
import { createRandom, pick } from "../fleets/random.ts";
import type { YearFleet } from "../fleets/year-fleet.ts";
import { openHttpClient } from "../servers/http-client.ts";
import { getRequest } from "../servers/load.ts";
import type { CrowdedYear } from "./crowded-year.ts";

/* Random questions about all devices but one, asked before and after it is erased. */

export interface Place {
  readonly latitude: number;
  readonly longitude: number;
}

export interface OtherQuestionsOptions {
  readonly fleet: YearFleet;
  readonly year: CrowdedYear;
  /** Starts of the days that are asked about. */
  readonly dayStartsMs: readonly number[];
  /** Centers of circles that do not have the erased device. */
  readonly centers: readonly Place[];
  readonly seed: number;
}

const RANGE_DAYS = 30;
/** Positions of any age, so that time does not change answers. */
const ANY_AGE_HOURS = 8760;
export const RADIUS_MILES = 1;

/** Paths about others: half of them pages of an archived day, the rest of six other kinds. */
export function otherPaths(count: number, options: OtherQuestionsOptions): readonly string[] {
  const { fleet, year, dayStartsMs, centers, seed } = options;
  const random = createRandom(seed);
  const day = () => pick(random, dayStartsMs);
  const other = (dayMs: number) => pick(random, year.othersOn(dayMs));
  const deviceOn = (dayMs: number) => `/api/v1/devices/${fleet.deviceIds[other(dayMs)]}`;
  const userOn = (dayMs: number) => `/api/v1/users/user-${String(other(dayMs) >> 1).padStart(6, "0")}`;
  const page = () => {
    const dayMs = day();
    return `${deviceOn(dayMs)}/locations/history?${dates(dayMs, dayMs)}`;
  };
  const kinds = [
    () => {
      const dayMs = day();
      return `${deviceOn(dayMs)}/locations/history?${dates(dayMs, dayMs + RANGE_DAYS * MS_PER_DAY)}&order=desc`;
    },
    () => {
      const dayMs = day();
      return `${deviceOn(dayMs)}/track?start=${dayMs}&end=${dayMs + MS_PER_DAY}`;
    },
    () => `${deviceOn(day())}/locations/current`,
    () => `${userOn(day())}/locations/current?max_age=${ANY_AGE_HOURS * 3600}`,
    () => `${userOn(day())}/devices`,
    () => {
      const { latitude, longitude } = pick(random, centers);
      const circle = `latitude=${latitude}&longitude=${longitude}&radius_miles=${RADIUS_MILES}`;
      return `/api/v1/devices/nearby?${circle}&max_age_hours=${ANY_AGE_HOURS}`;
    },
  ];
  return Array.from({ length: count }, (_, index) => (index % 2 === 0 ? page() : pick(random, kinds)()));
}

function dates(firstMs: number, lastMs: number): string {
  return `start_date=${utcDayName(utcDayOf(firstMs))}&end_date=${utcDayName(utcDayOf(lastMs))}`;
}

const CONNECTIONS = 4;

/** The digest of the answer to each path, all of which must be 200. */
export async function askAll(
  { url, key }: { readonly url: string; readonly key: string },
  paths: readonly string[],
): Promise<readonly string[]> {
  const digests: string[] = [];
  let next = 0;
  async function askOn(): Promise<void> {
    const client = await openHttpClient(url);
    for (let index = next++; index < paths.length; index = next++) {
      const request = getRequest(url + paths[index]!, { authorization: `Bearer ${key}` });
      digests[index] = digestOf(await client.ask(request));
    }
    client.close();
  }
  await Promise.all(Array.from({ length: CONNECTIONS }, askOn));
  return digests;
}

/** Without how long the answer took, how much it read, and what depends on the history of the index. */
function digestOf(body: Buffer): string {
  const text = body
    .toString("utf8")
    .replace(/"(query_time_ms|total_candidates|data_scanned_mb)":[\d.]+/g, "");
  return Bun.hash(text).toString();
}
