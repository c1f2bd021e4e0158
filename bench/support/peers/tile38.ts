import type { Redis } from "ioredis";
import { fail, ok } from "../../../src/lib/result.ts";
import { METERS_PER_MILE } from "../../../src/model/geo/distance.ts";
import type { FullReport } from "../fleets/fleet.ts";
import type { Metropolis, Point } from "../fleets/metropolis.ts";
import {
  type Contender,
  devicesOf,
  type OpenWriter,
  PAGE,
  type PeerOptions,
  RADIUS_MILES,
  type StartPeer,
} from "./contender.ts";
import { type Daemon, findProgram, makeDirectory, startDaemon } from "./daemon.ts";
import { closeRedis, connectRedis, openRedis, pingRedis } from "./redis-client.ts";

const INSTALL =
  "no tile38-server in the PATH; go install github.com/tidwall/tile38/cmd/tile38-server@latest, or a release of that project";
const BATCH = 500;
const POSITIONS = "positions";
const RECORDS = "records";

export const TILE38 = "Tile38 NEARBY";

/** Tile38, with points only, and with each record and its time as properties of a GeoJSON feature. */
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
    return ok({
      contenders: contendersOf(daemon, options),
      address: { peer: "tile38", port: daemon.port },
      stop: daemon.stop,
    });
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
      returns: { each: "position", total: false, ages: "all", ties: false },
      connect: () =>
        connectRedis(port, "NEARBY", (center) => [
          ...[POSITIONS, "LIMIT", PAGE, "DISTANCE", "POINTS", ...circle(center)],
        ]),
      readDevices,
    },
    {
      name: `${TILE38} of features, WHERE their time`,
      pid,
      returns: { each: "record", total: false, ages: "24 h", ties: false },
      connect: () =>
        connectRedis(port, "NEARBY", (center) => [
          ...[RECORDS, "LIMIT", PAGE, "DISTANCE", ...young, "OBJECTS", ...circle(center)],
        ]),
      readDevices,
    },
  ];
}

async function load(port: number, metropolis: Metropolis): Promise<void> {
  const writer = await openTile38Writer({ peer: "tile38", port });
  for (const batch of devicesOf(metropolis, BATCH)) await writer.write(batch.map(metropolis.report));
  await writer.close();
}

/** There is no bulk command: a batch is sent before the first answer is awaited. */
export const openTile38Writer: OpenWriter = async ({ port }) => {
  const redis = await openRedis(port);
  return {
    async write(reports) {
      await Promise.all(reports.flatMap((report) => [setPosition(redis, report), setRecord(redis, report)]));
    },
    close: () => closeRedis(redis),
  };
};

async function setPosition(redis: Redis, { device_id, latitude, longitude }: FullReport): Promise<void> {
  await redis.call("SET", POSITIONS, String(device_id), "POINT", Number(latitude), Number(longitude));
}

async function setRecord(redis: Redis, report: FullReport): Promise<void> {
  const { device_id, latitude, longitude, timestamp } = report;
  const geometry = { type: "Point", coordinates: [longitude, latitude] };
  const feature = JSON.stringify({ type: "Feature", geometry, properties: report });
  const time = ["FIELD", "timestamp", Number(timestamp)] as const;
  await redis.call("SET", RECORDS, String(device_id), ...time, "OBJECT", feature);
}

/** An answer is a cursor and items that start with their name. */
function readDevices(answer: unknown): readonly string[] {
  const [, items] = answer as readonly [unknown, readonly (readonly [string, ...unknown[]])[]];
  return items.map(([name]) => name);
}
