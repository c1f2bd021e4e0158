import { MS_PER_DAY } from "../../../../src/model/time/units.ts";
import { EXPORT_FORMATS } from "../../../../src/service/export/export-formats.ts";
import {
  ARCHIVED_DAYS,
  ARCHIVED_DAYS_AGO_MIN,
  CROWD_PLACE,
  dayName,
  EARLY_DEVICE,
} from "../attack/attacked-data.ts";
import { createFreePace } from "../attack/pace.ts";
import { question } from "../attack/requests.ts";
import type { Shape, Target } from "../shape.ts";

/* Slow queries whose client disconnects before or during the answer. */

/** The server and its child processes share a third of a core, which makes calls slow. */
const SMALL_CORES = 1 / 3;
/** The maximum time until a client disconnects. */
const PATIENCE_MS_MAX = 3000;
/** Long enough for a hundred queries at the key's rate. */
const ATTACK_TIMES = 4;
/** More than run concurrently. */
const ASKED_BEFORE = 8;

const OLDEST_DAYS_AGO = ARCHIVED_DAYS_AGO_MIN + ARCHIVED_DAYS;

export const LEFT_QUESTIONS: readonly Shape[] = [
  ...EXPORT_FORMATS.map(({ name }) =>
    leaving(`left-export-${name}`, `exports as ${name}`, () => {
      const nowMs = Date.now();
      return `/api/v1/export?format=${name}&start_date=${dayName(OLDEST_DAYS_AGO, nowMs)}`;
    }),
  ),
  leaving("left-live", "live streams", () => "/api/v1/live"),
  answering("left-track", "tracks", (asked) => `${device(asked)}/track?${range(asked)}`),
  answering("left-series", "series", (asked) => `${device(asked)}/series?${range(asked)}&buckets=4000`),
  answering("left-stops", "stops", (asked) => `${device(asked)}/stops?${range(asked)}`),
  answering(
    "left-density",
    "densities",
    (asked) => `/api/v1/density?${range(asked)}&zoom=${3 + (Math.abs(asked) % 18)}`,
  ),
  answering("left-tiles", "tiles", (asked) => `/api/v1/tiles/${tile(Math.abs(asked) % 15)}.mvt`),
  answering("left-columns", "snapshots of all devices", () => "/api/v1/locations/current/columns"),
];

/** Queries answered by the server itself. Some are completed before, so that it has opened its files. */
function answering(name: string, what: string, pathOf: (asked: number) => string): Shape {
  const shape = leaving(name, what, pathOf);
  return {
    ...shape,
    async arm(target) {
      const headers = { authorization: `Bearer ${target.key}` };
      const ask = async (_: unknown, index: number) =>
        (await fetch(target.url + pathOf(-index), { headers })).arrayBuffer();
      await Promise.all(Array.from({ length: ASKED_BEFORE }, ask));
      return shape.arm(target);
    },
  };
}

function leaving(name: string, what: string, pathOf: (asked: number) => string): Shape {
  return {
    name,
    title: `${what}, and leaves before they are there`,
    directory: "plain",
    attackTimes: ATTACK_TIMES,
    cores: SMALL_CORES,
    arm(target) {
      const pace = createFreePace();
      return async () => {
        for (let asked = 0; target.goesOn(); asked++) {
          await pace.turn();
          void leave(target, pathOf(asked), (asked * 997) % PATIENCE_MS_MAX);
        }
      };
    },
  };
}

async function leave(target: Target, path: string, patienceMs: number): Promise<void> {
  const connection = await target.open();
  if (connection === null) return target.count("no connection");
  void connection.write(question(target, path));
  const status = await Promise.race([connection.answer(), Bun.sleep(patienceMs)]);
  target.count(status === undefined ? "left" : String(status ?? "cut off"));
  connection.close();
}

const device = (asked: number) => `/api/v1/devices/${EARLY_DEVICE}${Math.abs(asked) % 100}`;

/** A different range each time, so that no cache has it. */
function range(asked: number): string {
  const nowMs = Date.now();
  return `start=${nowMs - OLDEST_DAYS_AGO * MS_PER_DAY - asked}&end=${nowMs}`;
}

/** The tile with the attacker's devices. */
function tile(zoom: number): string {
  const { latitude, longitude } = CROWD_PLACE;
  const sine = Math.sin((latitude * Math.PI) / 180);
  const x = Math.floor(2 ** zoom * (longitude / 360 + 0.5));
  const y = Math.floor(2 ** zoom * (0.5 - Math.log((1 + sine) / (1 - sine)) / (4 * Math.PI)));
  return `${zoom}/${x}/${y}`;
}
