import type { Steps } from "../../../src/lib/schedule/steps.ts";
import type { PositionBlock, PositionReading } from "../../../src/service/queries/positions.ts";
import { SeriesReading } from "../../../src/service/queries/series.ts";
import { StopFinder } from "../../../src/service/queries/stops.ts";
import type { Figure } from "../../support/figures/report.ts";
import { readBoston } from "../../support/fleets/boston.ts";
import type { Bench } from "../../support/run/bench.ts";
import { processorMicros } from "../../support/run/processor-time.ts";

/** The size of memory's blocks. */
const BLOCK_ROWS = 2048;
const NS_PER_MICRO = 1000;
const MS_PER_MINUTE = 60_000;
const RULE = { durationMsMin: 5 * MS_PER_MINUTE, radiusMeters: 100 };
/** Distant places in turn: the device is away from each for too long to stay. */
const PLACES = 102;

export const bench: Bench = {
  question:
    "what do the stops and the series of a device cost a position, once its positions are read: of all of Boston's vehicles one after the other, of a device that stands, and of a path made to be looked at again and again?",
  sizes: {
    rows: { help: "of each path, at most", smoke: 3000, full: 500_000 },
    buckets: { help: "of the series", smoke: 100, full: 1200 },
    rounds: { help: "of each", smoke: 2, full: 9 },
  },
  async run(run) {
    const rows = run.size("rows");
    const figures: Figure[] = [];
    for (const [name, path] of Object.entries(pathsOf(rows))) {
      if (path === null) continue;
      const range = { startMs: path.timestampMs[0]!, endMs: path.timestampMs.at(-1)! + 1 };
      const ways: readonly [string, () => PositionReading<unknown>][] = [
        ["stops", () => new StopFinder(RULE)],
        ["series", () => new SeriesReading(range, run.size("buckets"), 1)],
      ];
      for (const [what, begin] of ways) {
        const runs: number[] = [];
        for (let round = 0; round < run.size("rounds"); round++) {
          const beforeMicros = processorMicros();
          read(path, begin(), BLOCK_ROWS);
          runs.push(((processorMicros() - beforeMicros) * NS_PER_MICRO) / path.count);
        }
        figures.push({ name: `${what}, ${name}`, unit: "ns/position", runs });
        const whole = read(path, begin(), path.count);
        if (!Bun.deepEquals(read(path, begin(), 7), whole)) throw new Error("other blocks, another answer");
      }
    }
    run.figures(figures);
  },
};

function pathsOf(rows: number): Readonly<Record<string, PositionBlock | null>> {
  const standing = Array.from({ length: rows }, (_, i) => [1000 * i, 42 + 1e-5 * Math.sin(i), -71] as const);
  const hostile = standing.map(
    ([timestampMs], i) => [timestampMs / 10, 42 + 0.01 * (i % PLACES), -71] as const,
  );
  return { "Boston's vehicles": bostonPath(rows), standing: blockOf(standing), hostile: blockOf(hostile) };
}

/** The vehicles' nights one after another, as the path of one device. */
function bostonPath(rows: number): PositionBlock | null {
  const reports = readBoston(rows);
  if (reports === null) return null;
  let endMs = 0;
  const nights = [...Map.groupBy(reports, ({ device_id }) => device_id).values()];
  const path = nights.flatMap((night) => {
    const shiftMs = endMs - night[0]!.timestamp + MS_PER_MINUTE;
    endMs = night.at(-1)!.timestamp + shiftMs;
    return night.map(
      ({ timestamp, latitude, longitude }) => [timestamp + shiftMs, latitude, longitude] as const,
    );
  });
  return blockOf(path);
}

type Position = readonly [timestampMs: number, latitude: number, longitude: number];

/** Latitudes also serve as the series. */
function blockOf(path: readonly Position[]): PositionBlock {
  const latitude = Float64Array.from(path, ([, degrees]) => degrees);
  return {
    count: path.length,
    timestampMs: Float64Array.from(path, ([timestampMs]) => timestampMs),
    latitude,
    longitude: Float64Array.from(path, ([, , degrees]) => degrees),
    numbers: [latitude],
  };
}

/** Detects the stops of the path, passed in blocks. */
function read(
  { count, numbers, ...path }: PositionBlock,
  reading: PositionReading<unknown>,
  rows: number,
): unknown {
  for (let from = 0; from < count; from += rows) {
    const to = Math.min(count, from + rows);
    reading.add({
      count: to - from,
      timestampMs: path.timestampMs.subarray(from, to),
      latitude: path.latitude.subarray(from, to),
      longitude: path.longitude.subarray(from, to),
      numbers: numbers.map((column) => column.subarray(from, to)),
    });
    if (reading.work !== undefined) finish(reading.work());
  }
  return finish(reading.end());
}

function finish<Value>(steps: Steps<Value>): Value {
  for (;;) {
    const step = steps.next();
    if (step.done === true) return step.value;
  }
}
