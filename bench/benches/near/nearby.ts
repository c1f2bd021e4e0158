import { type Figure, median, readable } from "../../support/figures/report.ts";
import type { Contestant } from "../../support/finding/contestant.ts";
import { createGeokdbushAround } from "../../support/finding/geokdbush-around.ts";
import { createH3Cells } from "../../support/finding/h3-cells.ts";
import { createLinearScan } from "../../support/finding/linear-scan.ts";
import { createOurs } from "../../support/finding/ours.ts";
import {
  cityPositions,
  metropolisPositions,
  NOW_MS,
  type Positions,
  spherePositions,
  vesselPositions,
} from "../../support/finding/positions.ts";
import { createQueries, type Kind, kindText } from "../../support/finding/queries.ts";
import {
  checkAnswers,
  race,
  timeMoves,
  timeQueries,
  timeQueriesAndMoves,
} from "../../support/finding/race.ts";
import { createRbushBoxes } from "../../support/finding/rbush-boxes.ts";
import { createWalk, type Walk } from "../../support/finding/walk.ts";
import { measureWorst } from "../../support/finding/worst.ts";
import type { Point } from "../../support/fleets/metropolis.ts";
import { createRandom } from "../../support/fleets/random.ts";
import type { Bench, BenchRun } from "../../support/run/bench.ts";

const MILES = [1, 5, 50];
const LIMIT = 100;
const AGES = ["24 h", "random age"] as const;
const MOVES_BETWEEN = 10;

/** The required speed ratio to the others, by kind, in the metropolis with pages of 100. */
const WANTED: Readonly<Record<string, Readonly<Record<string, number>>>> = {
  "1 mi, best 100, 24 h": { geokdbush: 15, rbush: 20 },
  "5 mi, best 100, 24 h": { geokdbush: 60, rbush: 120 },
  "50 mi, best 100, 24 h": { geokdbush: 500, rbush: 700 },
  "1 mi, best 100, random age": { geokdbush: 10 },
  "5 mi, best 100, random age": { geokdbush: 25 },
  "50 mi, best 100, random age": { geokdbush: 100 },
};

const MOVES_PER_SECOND_MIN = 1_000_000;

export const bench: Bench = {
  question:
    "how long does it take to find who is near, exact total and the nearest, in our index, in geokdbush, rbush, H3 cells and by a linear scan?",
  sizes: {
    devices: { help: "devices of the metropolis", smoke: 4000, full: 200_000 },
    cities: { help: "cities of the world, at most", smoke: 2000, full: 200_000 },
    vessels: { help: "vessels around Denmark, at most", smoke: 500, full: 2000 },
    spread: { help: "devices all over the earth", smoke: 2000, full: 200_000 },
    centers: { help: "points that are asked from in a round", smoke: 40, full: 2000 },
    rounds: { help: "rounds, in each of which every contestant has a turn", smoke: 1, full: 5 },
    sliceMs: { help: "the longest a turn may last", smoke: 2, full: 300 },
    checked: { help: "queries of a kind whose answers are compared before", smoke: 8, full: 30 },
    crowd: { help: "devices of the crowd at one point", smoke: 5000, full: 1_000_000 },
    worstQueries: { help: "of a round in the part worst", smoke: 20, full: 300 },
    worstChecked: { help: "of them whose answers are compared before", smoke: 5, full: 3 },
    moves: { help: "moves in a turn of moves alone", smoke: 2000, full: 200_000 },
    seed: { help: "of positions, ages, points that are asked from, and moves", smoke: 1, full: 1 },
  },
  choices: {
    part: {
      help: "a part alone; may be given again for another",
      values: ["queries", "moves", "elsewhere", "worst"],
    },
  },
  async run(run) {
    const seed = run.size("seed");
    const parts = new Set(run.chosen("part"));
    if (parts.has("queries") || parts.has("moves")) {
      const metropolis = enter(run, metropolisPositions(run.size("devices"), seed));
      if (parts.has("queries")) for (const limit of [LIMIT, 10, 1000]) raceQueries(run, metropolis, limit);
      if (parts.has("moves")) {
        raceMixed(run, metropolis);
        raceMoves(run, metropolis);
      }
    }
    if (parts.has("elsewhere")) raceElsewhere(run, seed);
    if (parts.has("worst")) measureWorst(run, !run.isSmoke && run.size("crowd") === 1_000_000);
  },
};

function raceElsewhere(run: BenchRun, seed: number): void {
  const fleets = [
    cityPositions(run.size("cities"), seed),
    vesselPositions(run.size("vessels"), seed),
    spherePositions(run.size("spread"), seed),
  ];
  for (const positions of fleets) {
    if (positions === null) continue;
    const field = enter(run, positions);
    raceQueries(run, field, LIMIT);
    raceMixed(run, field);
  }
}

/** A fleet, all contestants that have it, and the centers of the queries. */
interface Field {
  readonly positions: Positions;
  readonly contestants: readonly Contestant[];
  readonly centers: readonly Point[];
  readonly walk: Walk;
}

function enter(run: BenchRun, positions: Positions): Field {
  const times: string[] = [];
  // The linear scan comes first: the other answers are compared with its.
  const creators = [createLinearScan, createOurs, createGeokdbushAround, createRbushBoxes, createH3Cells];
  const contestants = creators.map((create) => {
    const startMs = performance.now();
    const contestant = create(positions);
    times.push(`${contestant.name} ${readable(performance.now() - startMs)} ms`);
    return contestant;
  });
  const count = positions.latitude.length.toLocaleString("en");
  run.note(`${positions.name}: ${count} devices; built in: ${times.join(", ")}`);
  const centers = positions.centers(run.size("centers"));
  return { positions, contestants, centers, walk: createWalk(positions, run.size("seed")) };
}

function raceQueries(run: BenchRun, { positions, contestants, centers }: Field, limit: number): void {
  const random = createRandom(run.size("seed"));
  for (const age of AGES) {
    for (const miles of MILES) {
      const kind: Kind = { miles, limit, age };
      const name = `${positions.name}, ${kindText(kind)}`;
      const rounds = Array.from({ length: run.size("rounds") }, (_, round) => {
        // Each round begins at another center, so that a slow contestant does not repeat the same queries.
        const first = Math.floor((round * centers.length) / run.size("rounds"));
        const turned = [...centers.slice(first), ...centers.slice(0, first)];
        return createQueries(turned, kind, (place) => NOW_MS + place, random);
      });
      const matches = checkAnswers(contestants, rounds[0]!.slice(0, run.size("checked")));
      run.note(`${name}: ${readable(median(matches))} match`);
      const figures = race(name, "µs", contestants, rounds.length, (contestant, round) =>
        timeQueries(contestant, rounds[round]!, run.size("sliceMs")),
      );
      report(run, name, figures, isJudged(run, positions) ? WANTED[kindText(kind)] : undefined);
    }
  }
}

/** Devices move between queries, and time advances. Static structures can't take part. */
function raceMixed(run: BenchRun, { positions, contestants, centers, walk }: Field): void {
  const updatable = contestants.filter(({ set }) => set !== undefined);
  const random = createRandom(run.size("seed"));
  for (const miles of MILES) {
    const kind: Kind = { miles, limit: LIMIT, age: "24 h" };
    const name = `${positions.name}, ${kindText(kind)}, ${MOVES_BETWEEN} moves before each`;
    const rounds = Array.from({ length: run.size("rounds") }, () => {
      const moves = walk.next(centers.length * MOVES_BETWEEN);
      const askedMs = (place: number) => moves.timestampMs[(place + 1) * MOVES_BETWEEN - 1]!;
      return { moves, queries: createQueries(centers, kind, askedMs, random) };
    });
    const figures = race(name, "µs", updatable, rounds.length, (contestant, round) => {
      const { queries, moves } = rounds[round]!;
      return timeQueriesAndMoves(contestant, queries, moves, run.size("sliceMs"));
    });
    checkAnswers(updatable, rounds.at(-1)!.queries.slice(-run.size("checked")));
    report(run, name, figures);
  }
}

function raceMoves(run: BenchRun, { positions, contestants, centers, walk }: Field): void {
  const updatable = contestants.filter(({ set }) => set !== undefined);
  const rounds = Array.from({ length: run.size("rounds") }, () => walk.next(run.size("moves")));
  const figures = race(`${positions.name}, moves`, "moves/s", updatable, rounds.length, (contestant, round) =>
    timeMoves(contestant, rounds[round]!),
  );
  const kind: Kind = { miles: 5, limit: LIMIT, age: "24 h" };
  const queries = createQueries(centers, kind, () => walk.nowMs, createRandom(run.size("seed")));
  checkAnswers(updatable, queries.slice(0, run.size("checked")));

  run.figures([...figures.values()]);
  const ours = figures.get("ours")!;
  run.ratio("moves: times as fast as rbush", ours, figures.get("rbush")!);
  const bound = { atLeast: MOVES_PER_SECOND_MIN };
  run.verdict("moves of ours", median(ours.runs), "moves/s", isJudged(run, positions) ? bound : undefined);
}

/** Whether the required ratios apply to this run. */
function isJudged(run: BenchRun, { name, latitude }: Positions): boolean {
  return !run.isSmoke && name === "metropolis" && latitude.length === 200_000;
}

/** Reports times, and our speed relative to the required contestants and to the fastest other one. */
function report(
  run: BenchRun,
  name: string,
  figures: ReadonlyMap<string, Figure>,
  wanted: Readonly<Record<string, number>> = {},
): void {
  run.figures([...figures.values()]);
  const others = [...figures].filter(([contestant]) => contestant !== "ours");
  const [fastest] = others.reduce((a, b) => (median(a[1].runs) <= median(b[1].runs) ? a : b));
  for (const [contestant, figure] of others) {
    const atLeast = wanted[contestant];
    if (atLeast === undefined && contestant !== fastest) continue;
    const bound = atLeast === undefined ? undefined : { atLeast };
    run.ratio(
      `${name}: times as fast as ${contestant}`,
      perSecond(figures.get("ours")!),
      perSecond(figure),
      bound,
    );
  }
}

/** Converts to a speed, of which more is better. */
function perSecond(figure: Figure): Figure {
  return { ...figure, unit: "queries/s", runs: figure.runs.map((micros) => 1e6 / micros) };
}
