import { MS_PER_DAY } from "../../../src/model/time/units.ts";
import { type UtcDay, utcDayName, utcDayOf } from "../../../src/model/time/utc-day.ts";
import { createRandom, pick, type Random } from "../fleets/random.ts";
import type { City } from "./city.ts";
import type { Goals } from "./pairs.ts";
import { type Sized, sized } from "./sized.ts";

/* Queries for every read endpoint except nearby, drawn from a city. */

const LIMIT = 100;
const DAYS_BACK = 5; // Each of these days has more than a page of reports at any time of day.

/** Queries of an endpoint, with a new path each time. */
interface Endpoint extends Goals {
  readonly name: string;
  path(random: Random): string;
}

/** All read endpoints except nearby. */
function endpointsOf(city: City, nowMs: number): readonly Endpoint[] {
  const { metropolis, tracked, trackDay } = city;
  const devices = metropolis.latitude.length;
  const anyone = (random: Random) => Math.floor(random() * devices);
  const userOf = (index: number) => metropolis.report(index).user_id;
  const days = Array.from({ length: DAYS_BACK }, (_, index) => utcDayOf(nowMs - (1 + index) * MS_PER_DAY));
  const counts = new Map(days.map((day) => [day, city.countOf(day)]));
  const dayOfApp = (day: UtcDay, offset: number) =>
    `/api/v1/locations/history?start_date=${utcDayName(day)}&end_date=${utcDayName(day)}&limit=${LIMIT}&offset=${offset}`;
  const pageOfApp = (random: Random) => {
    const offset = Math.floor(random() * Math.max(1, devices - LIMIT));
    return `/api/v1/locations/current?limit=${LIMIT}&offset=${offset}`;
  };
  const dayOfTracks = `start_date=${trackDay}&end_date=${trackDay}&limit=${LIMIT}`;
  return [
    {
      name: "current position of a device",
      cpuMsMax: 0.02,
      timesBusyMax: 1.5,
      path: (random) => `/api/v1/devices/${metropolis.deviceId(anyone(random))}/locations/current`,
    },
    {
      name: "current positions of a user",
      cpuMsMax: 0.04,
      timesBusyMax: 1.5,
      path: (random) => `/api/v1/users/${userOf(anyone(random))}/locations/current`,
    },
    {
      name: "current positions of an app, 100 from any offset",
      cpuMsMax: 0.075,
      timesBusyMax: 2.6,
      path: (random) => pageOfApp(random),
    },
    {
      name: "current positions of an app, 100 from any offset, positions alone",
      path: (random) => `${pageOfApp(random)}&fields=latitude,longitude`,
    },
    {
      name: "day of a device, first 100",
      cpuMsMax: 0.09,
      path: (random) =>
        `/api/v1/devices/${metropolis.deviceId(pick(random, tracked))}/locations/history?${dayOfTracks}`,
    },
    {
      name: "day of a user, first 100",
      cpuMsMax: 0.105,
      path: (random) => `/api/v1/users/${userOf(pick(random, tracked))}/locations/history?${dayOfTracks}`,
    },
    {
      name: "day of an app, first 100",
      cpuMsMax: 0.5,
      path: (random) => dayOfApp(pick(random, days), 0),
    },
    {
      name: "day of an app, 100 from any offset",
      cpuMsMax: 1,
      path(random) {
        const day = pick(random, days);
        return dayOfApp(day, Math.floor(random() * Math.max(1, counts.get(day)! - LIMIT)));
      },
    },
    { name: "devices of a user", path: (random) => `/api/v1/users/${userOf(anyone(random))}/devices` },
    { name: "/health", path: () => "/health" },
  ];
}

export interface EndpointQuestions extends Sized, Goals {
  readonly name: string;
}

export interface EndpointOptions {
  readonly url: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly city: City;
  readonly count: number;
  readonly seed: number;
}

/** Draws queries for every endpoint, and sends some to learn the size of the answers. */
export async function drawEndpointQuestions(options: EndpointOptions): Promise<EndpointQuestions[]> {
  const { url, headers, city, count, seed } = options;
  const random = createRandom(seed);
  const all: EndpointQuestions[] = [];
  for (const { path, ...endpoint } of endpointsOf(city, Date.now())) {
    const paths = Array.from({ length: count }, () => path(random));
    all.push({ ...endpoint, ...(await sized(url, { paths, headers })) });
  }
  return all;
}
