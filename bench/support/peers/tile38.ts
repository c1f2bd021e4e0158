import { METERS_PER_MILE } from "../../../src/geo/distance.ts";
import { fail, ok } from "../../../src/lib/result.ts";
import type { Metropolis, Point } from "../metropolis.ts";
import { openConnection } from "./connection.ts";
import {
  type Contender,
  devicesOf,
  PAGE,
  type PeerOptions,
  RADIUS_MILES,
  type StartPeer,
} from "./contender.ts";
import { type Daemon, findProgram, makeDirectory, startDaemon } from "./daemon.ts";
import { ping } from "./redis.ts";
import { encodeCommand, parseResp, RESP } from "./resp.ts";

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
    greet: ping,
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
  const server = { port, pid, protocol: RESP, readDevices };
  const circle = ({ latitude, longitude }: Point) =>
    ["POINT", latitude, longitude, RADIUS_MILES * METERS_PER_MILE] as const;
  return [
    {
      ...server,
      name: TILE38,
      returns: { records: false, total: false, ages: "all", ties: false },
      question: (center) =>
        encodeCommand("NEARBY", POSITIONS, "LIMIT", PAGE, "DISTANCE", "POINTS", ...circle(center)),
    },
    {
      ...server,
      name: `${TILE38} of features, WHERE their time`,
      returns: { records: true, total: false, ages: "24 h", ties: false },
      question: (center) =>
        encodeCommand(
          ...[
            "NEARBY",
            RECORDS,
            "LIMIT",
            PAGE,
            "DISTANCE",
            "WHERE",
            "timestamp",
            oldestMs,
            "+inf",
            "OBJECTS",
          ],
          ...circle(center),
        ),
    },
  ];
}

/** There is no command that sets many: each loader waits for the answer to its last. */
async function load(port: number, metropolis: Metropolis): Promise<void> {
  const devices = devicesOf(metropolis, 1);
  await Promise.all(
    Array.from({ length: LOADERS }, async () => {
      const connection = await openConnection(port, RESP);
      for (const [index] of devices) {
        await connection.ask(setPosition(metropolis, index!));
        await connection.ask(setRecord(metropolis, index!));
      }
      await connection.close();
    }),
  );
}

function setPosition({ deviceId, latitude, longitude }: Metropolis, index: number): Buffer {
  return encodeCommand("SET", POSITIONS, deviceId(index), "POINT", latitude[index]!, longitude[index]!);
}

function setRecord(metropolis: Metropolis, index: number): Buffer {
  const { deviceId, latitude, longitude, timestampMs, report } = metropolis;
  const feature = {
    type: "Feature",
    geometry: { type: "Point", coordinates: [longitude[index], latitude[index]] },
    properties: report(index),
  };
  const time = ["FIELD", "timestamp", timestampMs[index]!] as const;
  return encodeCommand("SET", RECORDS, deviceId(index), ...time, "OBJECT", JSON.stringify(feature));
}

/** An answer is a cursor and items that begin with their name. */
function readDevices(answer: Buffer): readonly string[] {
  const [, items] = parseResp(answer) as readonly [string, readonly (readonly string[])[]];
  return items.map(([name]) => name!);
}
