import { type Figure, median, readable } from "../../support/figures/report.ts";
import { type Growth, plotGrowth } from "../../support/finding/growth-plot.ts";
import {
  type GrowthProcess,
  type Measured,
  startGrowthProcess,
} from "../../support/finding/growth-process.ts";
import type { Bench, BenchRun } from "../../support/run/bench.ts";

const LIMIT = 100;

/** The maximum ratio of the query times in the largest and the smallest city. */
const GROWTH_MAX = 1.5;

const GROWTHS = [
  { growth: "denser", text: "denser city, smaller circles" },
  { growth: "wider", text: "wider city, circles of a mile" },
] as const;

export const bench: Bench = {
  question: "does finding as many devices nearby take longer where there are more of them?",
  sizes: {
    smallest: { help: "devices of the smallest city", smoke: 2000, full: 10_000 },
    largest: { help: "devices of the largest city, at most", smoke: 8000, full: 10_000_000 },
    factor: { help: "how many times as large as the one before a city is", smoke: 4, full: 10 },
    matches: { help: "devices in a circle that were heard of in the last day", smoke: 50, full: 500 },
    centers: { help: "points that are asked from in a round", smoke: 50, full: 2000 },
    moves: { help: "moves in a round", smoke: 1000, full: 200_000 },
    rounds: { help: "rounds, in each of which every city has a turn", smoke: 1, full: 7 },
    checked: { help: "queries whose answers are compared with a linear scan's before", smoke: 5, full: 5 },
    seed: { help: "of positions, ages, points that are asked from, and moves", smoke: 1, full: 1 },
  },
  async run(run) {
    const growths: Growth[] = [];
    for (const { growth, text } of GROWTHS) {
      // All processes exist at the same time and take turns, so that other load affects all alike.
      const cities: GrowthProcess[] = [];
      try {
        for (const devices of citySizes(run)) cities.push(await startCity(run, growth, devices));
        const rounds: (readonly Measured[])[] = [];
        for (let round = 0; round < run.size("rounds"); round++) rounds.push(await measureInTurns(cities));
        report(run, text, cities, rounds);
        growths.push(growthOf(`${growth} city`, cities, rounds));
      } finally {
        for (const city of cities) await city.end();
      }
    }
    run.attach(".svg", await plotGrowth(growths));
  },
};

function citySizes(run: BenchRun): number[] {
  const sizes: number[] = [];
  for (let devices = run.size("smallest"); devices <= run.size("largest"); devices *= run.size("factor"))
    sizes.push(devices);
  return sizes;
}

function startCity(run: BenchRun, growth: "denser" | "wider", devices: number): Promise<GrowthProcess> {
  return startGrowthProcess({
    devices,
    growth,
    limit: LIMIT,
    matches: run.size("matches"),
    centers: run.size("centers"),
    moves: run.size("moves"),
    checked: run.size("checked"),
    seed: run.size("seed"),
  });
}

async function measureInTurns(cities: readonly GrowthProcess[]): Promise<readonly Measured[]> {
  const measured: Measured[] = [];
  for (const city of cities) measured.push(await city.measure());
  return measured;
}

function report(
  run: BenchRun,
  text: string,
  cities: readonly GrowthProcess[],
  rounds: readonly (readonly Measured[])[],
): void {
  const figuresOf = (what: string, unit: string, value: (measured: Measured) => number): Figure[] =>
    cities.map(({ devices }, index) => ({
      name: `${text}, ${devices.toLocaleString("en")} devices: ${what}`,
      unit,
      runs: rounds.map((round) => value(round[index]!)),
    }));
  const queries = figuresOf("query", "µs", ({ queryMicros }) => queryMicros);
  const moves = figuresOf("move", "µs", ({ moveMicros }) => moveMicros);
  for (const { devices, built } of cities) {
    const { radiusMiles, matches, linearScanMicros } = built;
    const of = `${text}, ${devices.toLocaleString("en")} devices`;
    run.note(`${of}: ${readable(matches)} match within ${readable(radiusMiles)} mi`);
    run.verdict(`${of}: linear scan`, linearScanMicros, "µs");
    run.verdict(`${of}: heap`, built.heapBytes / devices, "bytes/device");
    run.verdict(`${of}: resident`, built.residentBytes / devices, "bytes/device");
  }
  run.figures(queries);
  run.figures(moves);
  const bound = run.isSmoke ? undefined : { atMost: GROWTH_MAX };
  run.ratio(`${text}: query, largest to smallest`, queries.at(-1)!, queries[0]!, bound);
  run.ratio(`${text}: move, largest to smallest`, moves.at(-1)!, moves[0]!);
}

/** The medians for the plot. */
function growthOf(
  title: string,
  cities: readonly GrowthProcess[],
  rounds: readonly (readonly Measured[])[],
): Growth {
  return {
    title,
    cities: cities.map(({ devices, built }, index) => ({
      devices,
      linearScanMicros: built.linearScanMicros,
      queryMicros: median(rounds.map((round) => round[index]!.queryMicros)),
      moveMicros: median(rounds.map((round) => round[index]!.moveMicros)),
      heapBytesPerDevice: built.heapBytes / devices,
      residentBytesPerDevice: built.residentBytes / devices,
    })),
  };
}
