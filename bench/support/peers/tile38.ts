import type { Redis } from "ioredis";
import { METERS_PER_MILE } from "../../../src/geo/distance.ts";
import { fail, ok } from "../../../src/lib/result.ts";
import type { Metropolis, Point } from "../fleets/metropolis.ts";
import {
  type Contender,
  devicesOf,
  PAGE,
  type PeerOptions,
  RADIUS_MILES,
  type StartPeer,
} from "./contender.ts";
import { type Daemon, findProgram, makeDirectory, startDaemon } from "./daemon.ts";
import { closeRedis, connectRedis, openRedis, pingRedis } from "./redis-client.ts";

const INSTALL =
  "no tile38-server in the PATH; go install github.com/tidwall/tile38/cmd/tile38-server@latest, or a release of that project";
const LOADERS = 16;
const POSITIONS = "positions";
const RECORDS = "records";

export const TILE38 = "Tile38 NEARBY";

/** Tile38, once with points alone and once with each record as the properties of a GeoJSON feature, and its time. */
export const startTile38: StartPeer = async (options) => {
  const program = findProgram("tile38-server");
  if (program === null) return fail(INSTALL);
  const directory = makeDirectory("tile38");
  const started = await startDaemon({
    directory,
    argv: (port) => [
      ...[program, "-h", "127.0.0.1", "-p", String(port), "-d", directory, "--appendonly", "no"],
    ],
    stopSignal: "SIGTERM",
    greet: pingRedis,
  });
  if (!started.ok) return started;
  const daemon = started.value;
  try {
    await load(daemon.port, options.metropolis);
    return ok({ contenders: contendersOf(daemon, options), stop: daemon.stop });
  } catch (error) {
    await daemon.stop();
    throw error;
  }
};

function contendersOf({ port, pid }: Daemon, { oldestMs }: PeerOptions): readonly Contender[] {
  const circle = ({ latitude, longitude }: Point) =>
    ["POINT", latitude, longitude, RADIUS_MILES * METERS_PER_MILE] as const;
  const young = ["WHERE", "timestamp", oldestMs, "+inf"] as const;
  return [
    {
      name: TILE38,
      pid,
      returns: { records: false, total: false, ages: "all", ties: false },
      connect: () =>
        connectRedis(port, "NEARBY", (center) => [
          ...[POSITIONS, "LIMIT", PAGE, "DISTANCE", "POINTS", ...circle(center)],
        ]),
      readDevices,
    },
    {
      name: `${TILE38} of features, WHERE their time`,
      pid,
      returns: { records: true, total: false, ages: "24 h", ties: false },
      connect: () =>
        connectRedis(port, "NEARBY", (center) => [
          ...[RECORDS, "LIMIT", PAGE, "DISTANCE", ...young, "OBJECTS", ...circle(center)],
        ]),
      readDevices,
    },
  ];
}

/** There is no command that sets many: each loader waits for the answer to its last. */
async function load(port: number, metropolis: Metropolis): Promise<void> {
  const devices = devicesOf(metropolis, 1);
  await Promise.all(
    Array.from({ length: LOADERS }, async () => {
      const redis = await openRedis(port);
      for (const [index] of devices) {
        await setPosition(redis, metropolis, index!);
        await setRecord(redis, metropolis, index!);
      }
      await closeRedis(redis);
    }),
  );
}

async function setPosition(redis: Redis, metropolis: Metropolis, index: number): Promise<void> {
  const { deviceId, latitude, longitude } = metropolis;
  await redis.call("SET", POSITIONS, deviceId(index), "POINT", latitude[index]!, longitude[index]!);
}

async function setRecord(redis: Redis, metropolis: Metropolis, index: number): Promise<void> {
  const { deviceId, latitude, longitude, timestampMs, report } = metropolis;
  const feature = {
    type: "Feature",
    geometry: { type: "Point", coordinates: [longitude[index], latitude[index]] },
    properties: report(index),
  };
  const time = ["FIELD", "timestamp", timestampMs[index]!] as const;
  await redis.call("SET", RECORDS, deviceId(index), ...time, "OBJECT", JSON.stringify(feature));
}

/** An answer is a cursor and items that begin with their name. */
function readDevices(answer: unknown): readonly string[] {
  const [, items] = answer as readonly [unknown, readonly (readonly [string, ...unknown[]])[]];
  return items.map(([name]) => name);
}
