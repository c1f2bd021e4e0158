import { MS_PER_DAY } from "../../../src/time/retention.ts";
import { utcDayName, utcDayOf } from "../../../src/time/utc-day.ts";
import { createRandom, pick, type Random } from "../fleets/random.ts";
import type { City } from "./city.ts";
import { type Sized, sized } from "./sized.ts";

/* Questions to every endpoint that reads but nearby, drawn from a city. */

const LIMIT = 100;
const DAYS_BACK = 5; // Every one of them has more than a page of reports, whatever the time of day.
const OFFSET_MAX = 1000;

/** What is asked of an endpoint, another path each time. */
interface Endpoint {
  readonly name: string;
  path(random: Random): string;
}

/** Every endpoint that reads, but for nearby. */
function endpointsOf({ metropolis, tracked, trackDay }: City, nowMs: number): readonly Endpoint[] {
  const devices = metropolis.latitude.length;
  const anyone = (random: Random) => Math.floor(random() * devices);
  const userOf = (index: number) => metropolis.report(index).user_id;
  const dayOfTracks = `start_date=${trackDay}&end_date=${trackDay}&limit=${LIMIT}`;
  return [
    {
      name: "current position of a device",
      path: (random) => `/api/v1/devices/${metropolis.deviceId(anyone(random))}/locations/current`,
    },
    {
      name: "current positions of a user",
      path: (random) => `/api/v1/users/${userOf(anyone(random))}/locations/current`,
    },
    {
      name: "current positions of an app, 100 from anywhere",
      path(random) {
        const offset = Math.floor(random() * Math.max(1, devices - LIMIT));
        return `/api/v1/locations/current?limit=${LIMIT}&offset=${offset}`;
      },
    },
    {
      name: "day of a device, first 100",
      path: (random) =>
        `/api/v1/devices/${metropolis.deviceId(pick(random, tracked))}/locations/history?${dayOfTracks}`,
    },
    {
      name: "day of a user, first 100",
      path: (random) => `/api/v1/users/${userOf(pick(random, tracked))}/locations/history?${dayOfTracks}`,
    },
    {
      name: "day of an app, 100 of the first 1,100",
      path(random) {
        const day = utcDayName(utcDayOf(nowMs - (1 + Math.floor(random() * DAYS_BACK)) * MS_PER_DAY));
        const offset = Math.floor(random() * OFFSET_MAX);
        return `/api/v1/locations/history?start_date=${day}&end_date=${day}&limit=${LIMIT}&offset=${offset}`;
      },
    },
    { name: "devices of a user", path: (random) => `/api/v1/users/${userOf(anyone(random))}/devices` },
    { name: "/health", path: () => "/health" },
  ];
}

export interface EndpointQuestions extends Sized {
  readonly name: string;
}

export interface EndpointOptions {
  readonly url: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly city: City;
  readonly count: number;
  readonly seed: number;
}

/** Questions to every endpoint; some are asked to learn how long answers are. */
export async function drawEndpointQuestions(options: EndpointOptions): Promise<EndpointQuestions[]> {
  const { url, headers, city, count, seed } = options;
  const random = createRandom(seed);
  const all: EndpointQuestions[] = [];
  for (const { name, path } of endpointsOf(city, Date.now())) {
    const paths = Array.from({ length: count }, () => path(random));
    all.push({ name, ...(await sized(url, { paths, headers })) });
  }
  return all;
}
