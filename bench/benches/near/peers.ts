import { haversineMeters, METERS_PER_MILE } from "../../../src/model/geo/distance.ts";
import { type Figure, median, readable } from "../../support/figures/report.ts";
import {
  createMetropolis,
  drawPoints,
  type Metropolis,
  type Point,
} from "../../support/fleets/metropolis.ts";
import { compareAnswers, EDGE_METERS } from "../../support/peers/compare.ts";
import { type Contender, PAGE, type Peer, RADIUS_MILES } from "../../support/peers/contender.ts";
import { startGeokdbush } from "../../support/peers/geokdbush/peer.ts";
import { startPostgis } from "../../support/peers/postgis/peer.ts";
import { REDIS, startRedis } from "../../support/peers/redis.ts";
import { startTile38, TILE38 } from "../../support/peers/tile38.ts";
import { type Turn, takeTurn } from "../../support/peers/turn.ts";
import { isOurs, startOurs } from "../../support/peers/wherehouse.ts";
import { raceBesideWrites } from "../../support/peers/writes/beside-writes.ts";
import type { Bench, BenchRun } from "../../support/run/bench.ts";

const MS_PER_HOUR = 3_600_000;
const MS_PER_DAY = 24 * MS_PER_HOUR;
const PEERS = [
  ["Redis", startRedis],
  ["Tile38", startTile38],
  ["PostGIS", startPostgis],
  ["geokdbush", startGeokdbush],
] as const;
const TIMES_FASTER_MIN = 20; // Compared with Redis and Tile38, which answer with less.

export const bench: Bench = {
  question:
    "full answers of nearby over HTTP, with and without moving devices, compared with Redis, Tile38, PostGIS and geokdbush with the same devices, queries and connections, each through its own client",
  sizes: {
    devices: { help: "of the metropolis", smoke: 2000, full: 200_000 },
    questions: { help: "different points asked from", smoke: 20, full: 2000 },
    connections: { help: "that ask at a time", smoke: 16, full: 16 },
    seconds: { help: "that each is asked in a round", smoke: 0.1, full: 3 },
    rounds: { help: "in which each has a turn", smoke: 2, full: 5 },
    writeRounds: { help: "in which each has a turn beside writes and one between", smoke: 1, full: 3 },
    movesPerSecond: { help: "that are written beside questions", smoke: 1000, full: 20_000 },
    compared: { help: "questions whose answers are compared", smoke: 20, full: 100 },
    seed: { help: "of the metropolis and the points asked from", smoke: 1, full: 1 },
  },
  async run(run) {
    const nowMs = Date.now();
    const metropolisOptions = { devices: run.size("devices"), seed: run.size("seed"), nowMs };
    const metropolis = createMetropolis(metropolisOptions);
    const oldestMs = nowMs - MS_PER_DAY;
    keepFromTheEdge(metropolis.timestampMs, oldestMs);
    const options = { metropolis, oldestMs, connections: run.size("connections") };
    const started: Peer[] = [];
    try {
      for (const [name, start] of [["Wherehouse", startOurs], ...PEERS] as const) {
        const startMs = performance.now();
        const peer = await start(options);
        if (peer.ok) started.push(peer.value);
        const seconds = readable((performance.now() - startMs) / 1000);
        run.note(
          peer.ok ? `${name}: started and filled in ${seconds} s` : `${name}: left out: ${peer.error}`,
        );
      }
      const contenders = started.flatMap((peer) => peer.contenders);
      const points = drawPoints(run.size("questions"), run.size("seed") + 1);
      await compareAll(run, metropolis, contenders, points);
      await race(run, contenders, points);
      const writes = { run, peers: started, metropolis, metropolisOptions, oldestMs, points };
      const moved = { ...metropolis, ...(await raceBesideWrites(writes)) };
      await compareAll(run, moved, contenders, points);
    } finally {
      for (const peer of started) await peer.stop();
    }
  },
};

/** Makes devices an hour younger that would become a day old during the bench. */
function keepFromTheEdge(timestampMs: Float64Array, oldestMs: number): void {
  for (let index = 0; index < timestampMs.length; index++) {
    const sinceEdgeMs = timestampMs[index]! - oldestMs;
    if (sinceEdgeMs >= 0 && sinceEdgeMs < MS_PER_HOUR) timestampMs[index]! += MS_PER_HOUR;
  }
}

/** Compares all answers with ours to the same query. */
async function compareAll(
  run: BenchRun,
  metropolis: Metropolis,
  contenders: readonly Contender[],
  points: readonly Point[],
): Promise<void> {
  const indexes = new Map(Array.from(metropolis.latitude, (_, index) => [metropolis.deviceId(index), index]));
  const asked = points.slice(0, run.size("compared"));
  const [ours, oursEveryAge, ...others] = contenders;
  const ourAnswers = { "24 h": await answersOf(ours!, asked), all: await answersOf(oursEveryAge!, asked) };
  for (const contender of others) {
    const theirs = await answersOf(contender, asked);
    const compared = theirs.map((answer, question) => {
      const center = asked[question]!;
      return compareAnswers({
        ours: ourAnswers[contender.returns.ages][question]!,
        theirs: answer,
        radiusMeters: RADIUS_MILES * METERS_PER_MILE,
        page: PAGE,
        distanceMeters(deviceId) {
          const index = indexes.get(deviceId)!;
          const [latitude, longitude] = [metropolis.latitude[index]!, metropolis.longitude[index]!];
          return haversineMeters(center.latitude, center.longitude, latitude, longitude);
        },
      });
    });
    const [devices, common] = (["devices", "common"] as const).map((key) =>
      compared.reduce((sum, one) => sum + one[key], 0),
    ) as [number, number];
    run.note(
      `${contender.name}: of ${devices.toLocaleString("en")} devices in ${asked.length} of our answers it finds ${common.toLocaleString("en")}` +
        (common === devices ? "" : `; the others are within ${EDGE_METERS} m of where an answer ends`),
    );
  }
}

async function answersOf(
  contender: Contender,
  points: readonly Point[],
): Promise<readonly (readonly string[])[]> {
  const connection = await contender.connect();
  const answers: (readonly string[])[] = [];
  for (const point of points) answers.push(contender.readDevices(await connection.ask(point)));
  await connection.close();
  return answers;
}

async function race(
  run: BenchRun,
  contenders: readonly Contender[],
  points: readonly Point[],
): Promise<void> {
  const racers = contenders.map((contender) => ({ contender, asked: 0, turns: [] as Turn[] }));
  for (let round = 0; round < run.size("rounds"); round++) {
    for (const racer of racers) {
      const { contender, turns } = racer;
      const next = () => points[racer.asked++ % points.length]!;
      const [connections, seconds] = [run.size("connections"), run.size("seconds")];
      turns.push(await takeTurn({ contender, connections, seconds, next }));
    }
  }
  const figures = racers.map(({ contender, turns }) => ({
    name: contender.name,
    unit: "answers/s",
    runs: turns.map((turn) => turn.answersPerSecond),
  }));
  run.figures(figures);
  for (const line of table(racers)) run.note(line);
  noteRatios(run, contenders, figures);
}

function noteRatios(run: BenchRun, contenders: readonly Contender[], figures: readonly Figure[]): void {
  const [ours, oursEveryAge] = figures;
  for (const [index, contender] of contenders.entries()) {
    if (isOurs(contender)) continue;
    const { name, returns } = contender;
    if (returns.each !== "record") {
      const isAlike = (other: Contender) =>
        isOurs(other) && other.returns.each === returns.each && other.returns.ages === returns.ages;
      run.ratio(
        `times ${name}, ours of ${returns.each}s too`,
        figures[contenders.findIndex(isAlike)]!,
        figures[index]!,
      );
    }
    if (returns.each === "id") continue;
    const isBound = !run.isSmoke && (name === REDIS || name === TILE38);
    run.ratio(`times ${name}`, ours!, figures[index]!, isBound ? { atLeast: TIMES_FASTER_MIN } : undefined);
    if (returns.ages === "all")
      run.ratio(`times ${name}, ours of all ages too`, oursEveryAge!, figures[index]!);
  }
}

interface Raced {
  readonly contender: Contender;
  readonly turns: readonly Turn[];
}

/** The content of each answer, and its time. */
function table(racers: readonly Raced[]): readonly string[] {
  const head = [
    "",
    "each device has",
    "exact total",
    "ages",
    "ties in order",
    "cores busy",
    "of the client",
    "its µs an answer",
  ];
  const rows = racers.map(({ contender, turns }) => {
    const { each, total, ages, ties } = contender.returns;
    const middle = (of: (turn: Turn) => number | null) => {
      const values = turns.map(of).filter((value) => value !== null);
      return values.length === 0 ? "unknown" : readable(median(values));
    };
    return [
      ...[contender.name, `its ${each}`, yes(total), ages, yes(ties)],
      ...[middle((turn) => turn.serverCores), middle((turn) => turn.clientCores)],
      middle((turn) => turn.clientMicroseconds),
    ];
  });
  const widths = head.map((_, column) => Math.max(...[head, ...rows].map((row) => row[column]!.length)));
  return [head, ...rows].map((row) =>
    row
      .map((cell, column) => cell.padEnd(widths[column]!))
      .join("  ")
      .trimEnd(),
  );
}

function yes(value: boolean): string {
  return value ? "yes" : "no";
}
