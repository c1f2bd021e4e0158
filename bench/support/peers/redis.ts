import type { Redis } from "ioredis";
import { fail, ok } from "../../../src/lib/result.ts";
import type { FullReport } from "../fleets/fleet.ts";
import type { Metropolis } from "../fleets/metropolis.ts";
import {
  type Contender,
  devicesOf,
  type OpenWriter,
  PAGE,
  RADIUS_MILES,
  type StartPeer,
} from "./contender.ts";
import { type Daemon, findProgram, makeDirectory, startDaemon } from "./daemon.ts";
import { closeRedis, connectRedis, openRedis, pingRedis } from "./redis-client.ts";

const INSTALL = "no redis-server in the PATH; Debian: apt install redis-server";
const BATCH = 500;
const POSITIONS = "positions";

export const REDIS = "Redis GEOSEARCH";

/** The search together with the records of its results, in one round trip. */
const WITH_RECORDS = `
local found = redis.call("GEOSEARCH", KEYS[1], "FROMLONLAT", ARGV[1], ARGV[2], "BYRADIUS", ARGV[3], "mi", "ASC",
  "COUNT", ARGV[4], "WITHDIST", "WITHCOORD")
if #found == 0 then return {found, {}} end
local keys = {}
for index, device in ipairs(found) do keys[index] = "record:" .. device[1] end
return {found, redis.call("MGET", unpack(keys))}`;

/** Redis, with positions only, and with each record as a JSON string beside them. */
export const startRedis: StartPeer = async ({ metropolis }) => {
  const program = findProgram("redis-server");
  if (program === null) return fail(INSTALL);
  const directory = makeDirectory("redis");
  const started = await startDaemon({
    directory,
    argv: (port) => [
      ...[program, "--bind", "127.0.0.1", "--port", String(port), "--dir", directory],
      ...["--save", "", "--appendonly", "no", "--daemonize", "no"],
    ],
    stopSignal: "SIGTERM",
    greet: pingRedis,
  });
  if (!started.ok) return started;
  const daemon = started.value;
  try {
    const contenders = await prepare(daemon, metropolis);
    return ok({ contenders, address: { peer: "redis", port: daemon.port }, stop: daemon.stop });
  } catch (error) {
    await daemon.stop();
    throw error;
  }
};

async function prepare({ port, pid }: Daemon, metropolis: Metropolis): Promise<readonly Contender[]> {
  const redis = await openRedis(port);
  await load(redis, metropolis);
  const script = (await redis.script("LOAD", WITH_RECORDS)) as string;
  await closeRedis(redis);
  return [
    {
      name: REDIS,
      pid,
      returns: { each: "position", total: false, ages: "all", ties: false },
      connect: () =>
        connectRedis(port, "GEOSEARCH", ({ latitude, longitude }) => [
          ...[POSITIONS, "FROMLONLAT", longitude, latitude, "BYRADIUS", RADIUS_MILES, "mi"],
          ...["ASC", "COUNT", PAGE, "WITHDIST", "WITHCOORD"],
        ]),
      readDevices: namesOf,
    },
    {
      name: `${REDIS} of ids`,
      pid,
      returns: { each: "id", total: false, ages: "all", ties: false },
      connect: () =>
        connectRedis(port, "GEOSEARCH", ({ latitude, longitude }) => [
          ...[POSITIONS, "FROMLONLAT", longitude, latitude, "BYRADIUS", RADIUS_MILES, "mi"],
          ...["ASC", "COUNT", PAGE],
        ]),
      readDevices: (answer) => answer as readonly string[],
    },
    {
      name: `${REDIS} and MGET in a script`,
      pid,
      returns: { each: "record", total: false, ages: "all", ties: false },
      connect: () =>
        connectRedis(port, "EVALSHA", ({ latitude, longitude }) => [
          ...[script, 1, POSITIONS, longitude, latitude, RADIUS_MILES, PAGE],
        ]),
      readDevices(answer) {
        const [found, records] = answer as readonly [unknown, readonly string[]];
        const devices = namesOf(found);
        const recorded = records.map((record) => (JSON.parse(record) as { device_id: string }).device_id);
        if (!Bun.deepEquals(devices, recorded))
          throw new Error("Redis' records are not those of its devices");
        return devices;
      },
    },
  ];
}

async function load(redis: Redis, metropolis: Metropolis): Promise<void> {
  for (const batch of devicesOf(metropolis, BATCH)) await write(redis, batch.map(metropolis.report));
}

/** Writes positions and records of many devices in one round trip. */
async function write(redis: Redis, reports: readonly FullReport[]): Promise<void> {
  const written = await redis
    .pipeline()
    .geoadd(
      POSITIONS,
      ...reports.flatMap(({ longitude, latitude, device_id }) => [
        Number(longitude),
        Number(latitude),
        String(device_id),
      ]),
    )
    .mset(...reports.flatMap((report) => [`record:${report.device_id}`, JSON.stringify(report)]))
    .exec();
  const error = written?.find(([error]) => error !== null)?.[0];
  if (error) throw error;
}

export const openRedisWriter: OpenWriter = async ({ port }) => {
  const redis = await openRedis(port);
  return { write: (reports) => write(redis, reports), close: () => closeRedis(redis) };
};

/** An answer is a list of lists that start with the device. */
function namesOf(answer: unknown): readonly string[] {
  return (answer as readonly (readonly [string, ...unknown[]])[]).map(([name]) => name);
}
