import { METERS_PER_MILE } from "../../../src/model/geo/distance.ts";
import { MS_PER_DAY } from "../../../src/model/time/units.ts";
import type { CircleQuery } from "../../../src/spatial/positions.ts";
import { median } from "../figures/report.ts";
import type { Point } from "../fleets/metropolis.ts";
import { createRandom, type Random } from "../fleets/random.ts";
import type { BenchRun, Bound } from "../run/bench.ts";
import { processorMicros } from "../run/processor-time.ts";
import { percentile } from "../servers/open-load.ts";
import type { Contestant } from "./contestant.ts";
import { createLinearScan } from "./linear-scan.ts";
import { createOurs } from "./ours.ts";
import { AGE_DAYS_MAX, metropolisPositions, NOW_MS, type Positions } from "./positions.ts";
import { checkAnswers } from "./race.ts";

/* Queries without a shortcut in an index: the times of the slowest. */

const POINT: Point = { latitude: 42.36, longitude: -71.06 };
const ACCURACY_METERS_MIN = 3;
const ACCURACY_METERS_RANGE = 20;
const LIMIT_MAX = 1000;
const MILES = [1, 5, 50];
const ACCURACIES = ["any accuracy", "random accuracy"] as const;
const P99_MS_MAX = 10;

/** A crowd at one point, where distances don't tell devices apart. */
export function crowdPositions(devices: number, seed: number): Positions {
  const random = createRandom(seed);
  const ageMsMax = AGE_DAYS_MAX * MS_PER_DAY;
  return {
    name: "a crowd at one point",
    latitude: new Float64Array(devices).fill(POINT.latitude),
    longitude: new Float64Array(devices).fill(POINT.longitude),
    timestampMs: Float64Array.from({ length: devices }, () => Math.floor(NOW_MS - random() * ageMsMax)),
    accuracyMeters: Float64Array.from({ length: devices }, () => drawAccuracy(random)),
    centers: (count) => new Array<Point>(count).fill(POINT),
  };
}

/** Measures a crowd, a metropolis, and a metropolis of the crowd's size, which has no bound. */
export function measureWorst(run: BenchRun, isJudged: boolean): void {
  const seed = run.size("seed");
  const bound = isJudged ? { atMost: P99_MS_MAX } : undefined;
  measureOne(run, crowdPositions(run.size("crowd"), seed), { any: bound, random: bound });
  measureOne(run, metropolisPositions(run.size("devices"), seed), { random: bound });
  measureOne(run, metropolisPositions(run.size("crowd"), seed), {});
}

function measureOne(
  run: BenchRun,
  positions: Positions,
  bounds: { readonly any?: Bound | undefined; readonly random?: Bound | undefined },
): void {
  const ours = createOurs(positions);
  const scan = createLinearScan(positions);
  const centers = positions.centers(run.size("worstQueries"));
  for (const accuracy of ACCURACIES) {
    const count = positions.latitude.length.toLocaleString("en");
    const name = `${positions.name}, ${count} devices, random age, ${accuracy}, any page`;
    const rounds = Array.from({ length: run.size("rounds") }, (_, round) =>
      createWorstQueries(ours, centers, accuracy, run.size("seed") + round),
    );
    const checked = rounds[0]!.slice(0, run.size("worstChecked"));
    checkAnswers([scan, ours], checked);
    const times = rounds.map((queries) => timeEach(ours, queries));
    const figure = (what: string, runs: readonly number[]) => ({
      name: `${name}: ${what}`,
      unit: "ms",
      runs,
    });
    const p99 = figure(
      "p99",
      times.map(({ p99Ms }) => p99Ms),
    );
    run.figures([
      figure(
        "p50",
        times.map(({ p50Ms }) => p50Ms),
      ),
      p99,
      figure("p50, linear scan", [timeEach(scan, checked).p50Ms]),
    ]);
    run.verdict(p99.name, median(p99.runs), "ms", bounds[accuracy === "any accuracy" ? "any" : "random"]);
  }
}

/** Queries with varying maximum ages, radiuses of 1 to 50 miles, and pages of any length and offset. */
export function createWorstQueries(
  contestant: Contestant,
  centers: readonly Point[],
  accuracy: (typeof ACCURACIES)[number],
  seed: number,
): readonly CircleQuery[] {
  const random = createRandom(seed);
  return centers.map(({ latitude, longitude }, place) => {
    const query = {
      latitude,
      longitude,
      radiusMeters: MILES[place % MILES.length]! * METERS_PER_MILE,
      oldestMs: NOW_MS - Math.floor(random() * AGE_DAYS_MAX * MS_PER_DAY),
      accuracyMetersMax: accuracy === "any accuracy" ? Number.POSITIVE_INFINITY : drawAccuracy(random),
      offset: 0,
      limit: 1 + Math.floor(random() * LIMIT_MAX),
    };
    return { ...query, offset: Math.floor(random() * contestant.find(query).matches) };
  });
}

function drawAccuracy(random: Random): number {
  return Number((ACCURACY_METERS_MIN + random() * ACCURACY_METERS_RANGE).toFixed(2));
}

/** Milliseconds of processor time per query. */
function timeEach(contestant: Contestant, queries: readonly CircleQuery[]) {
  const each = queries.map((query) => {
    const startMicros = processorMicros();
    contestant.find(query);
    return (processorMicros() - startMicros) / 1000;
  });
  each.sort((a, b) => a - b);
  return { p50Ms: percentile(each, 0.5), p99Ms: percentile(each, 0.99) };
}
