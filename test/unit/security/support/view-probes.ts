import type { KeyedEndpoint } from "../../../../src/http/endpoint.ts";
import { NOON_MS } from "../../../support/test-app.ts";

/**
 * What to ask an endpoint that share links open so that its answers could tell exact times and places: for each of its
 * parameters, values close to those of some records. A parameter that isn't named here fails the test.
 */

interface Position {
  readonly timestamp: number;
  readonly latitude: number;
  readonly longitude: number;
}

export interface Probes {
  /** Values of the path's variable segments but for the device. */
  readonly paths: readonly Readonly<Record<string, string>>[];
  /** Parameters, by name, and their values. */
  readonly queries: readonly Readonly<Record<string, string | number>>[];
}

const MINUTE_MS = 60_000;
const DAY_MS = 1440 * MINUTE_MS;
/** All that test apps' links show, and a day more. */
const ALL = { start: NOON_MS - 2 * DAY_MS, end: NOON_MS + MINUTE_MS };
/** One record probes as well as twelve, and takes a twelfth of the time. */
const RECORDS_PROBED = 3;

export function probesOf(endpoint: KeyedEndpoint, near: readonly Position[]): Probes {
  const probed = [...near.slice(0, RECORDS_PROBED), ...near.slice(-RECORDS_PROBED)];
  const paths = endpoint.path.includes(":z") ? probed.flatMap(tilesNear) : [];
  const queries = Object.keys(endpoint.query).flatMap((name) => {
    const probe = PROBES[name];
    if (probe === undefined) throw new Error(`say here how ${name} of ${endpoint.path} could tell too much`);
    return probe(probed).map((value) => (typeof value === "object" ? value : { [name]: value }));
  });
  return { paths: paths.length === 0 ? [{}] : paths, queries };
}

type Probe = (near: readonly Position[]) => readonly (string | number | Probes["queries"][number])[];

const PROBES: Readonly<Record<string, Probe>> = {
  limit: () => [1, 2],
  offset: () => [1],
  timezone: () => ["Asia/Kathmandu"],
  places: () => ["true"],
  names: () => ["true"],
  profiles: () => ["true"],
  fields: () => [
    "speed,bearing,altitude,horizontal_accuracy",
    "user_id",
    "battery_level,brand,network_status",
  ],
  timestamp_after: instantsNear,
  timestamp_before: instantsNear,
  layer: () => [{ layer: "density", ...ALL }, { layer: "current" }, { layer: "tracks" }],
  since: () => [0, 1, 2, 3, 4],
  device_id: () => ["bus", "tram", "nobody"],
  user_id: () => ["driver", "nobody"],
  start: instantsNear,
  end: (near) => instantsNear(near).map((end) => ({ start: end - 3 * DAY_MS, end })),
  tolerance_meters: () => [0, 1, 100, 700, 10_000].map((meters) => ({ tolerance_meters: meters, ...ALL })),
  types: () => ["event"],
  kinds: () => [{ types: "event", kinds: "enter" }],
  watch_id: () => [{ types: "event", watch_id: "depot" }],
  late: () => [{ types: "event", late: "true" }],
  bbox: (near) => boxesNear(near).map((bbox) => ({ bbox, ...ALL })),
};

function instantsNear(near: readonly Position[]): readonly number[] {
  return near.flatMap(({ timestamp }) => {
    const minuteMs = timestamp - (timestamp % MINUTE_MS);
    return [
      timestamp - 1,
      timestamp,
      timestamp + 1,
      minuteMs - 1,
      minuteMs,
      minuteMs + 1,
      minuteMs + MINUTE_MS,
    ];
  });
}

/** Some 10 m around each, beside it, and from it to the far corner: a border lies between it and where it is shown. */
function boxesNear(near: readonly Position[]): readonly string[] {
  return near.flatMap(({ latitude, longitude }) => {
    const [west, south, east, north] = [longitude - 1e-4, latitude - 1e-4, longitude + 1e-4, latitude + 1e-4];
    return [
      [west, south, east, north],
      [longitude, latitude, 0, 54],
      [-4, 52, longitude, latitude],
      [east, south, west, north], // All around the earth but for it.
    ].map((box) => box.join(","));
  });
}

/** Of the world, of a street and of a house: a border may lie between where something is and where it is shown. */
function tilesNear({ latitude, longitude }: Position): readonly Readonly<Record<string, string>>[] {
  return [0, 12, 15, 16].map((z) => {
    const radians = (latitude * Math.PI) / 180;
    const x = Math.floor(((longitude + 180) / 360) * 2 ** z);
    const y = Math.floor(((1 - Math.asinh(Math.tan(radians)) / Math.PI) / 2) * 2 ** z);
    return { z: String(z), x: String(x), y: String(y) };
  });
}
