import { readFileSync } from "node:fs";
import { assert } from "../../../src/lib/assert.ts";
import { NEAR_METERS_MAX, type Places } from "../../../src/map/places.ts";
import { readPlaces } from "../../../src/map/read-places.ts";
import { haversineMeters } from "../../../src/model/geo/distance.ts";
import { type Figure, median } from "../../support/figures/report.ts";
import { createRandom } from "../../support/fleets/random.ts";
import type { Bench, BenchRun } from "../../support/run/bench.ts";

const FILE = new URL("../../../data/places/cities.tsv", import.meta.url);
const BYTES_A_MEGABYTE = 1e6;

type Position = readonly [latitude: number, longitude: number];

/** Kinds of queries: most are near places; some are the worst case. */
const KINDS: Readonly<Record<string, (random: () => number) => Position>> = {
  "around Boston": (random) => [42 + random(), -71.5 + random()],
  "anywhere on earth": (random) => [(Math.asin(2 * random() - 1) * 180) / Math.PI, random() * 360 - 180],
  "at the poles": (random) => [random() < 0.5 ? -90 + random() : 90 - random(), random() * 360 - 180],
  "off Norway, where the search is longest": (random) => [69.1 + random() / 5, 11.4 + random() / 2],
};

export const bench: Bench = {
  question: "what does it take to read the names of places, and to find the one that a position is near?",
  sizes: {
    runs: { help: "times that all places are read, and rounds of positions", smoke: 2, full: 15 },
    positions: { help: "of each kind in a round", smoke: 50, full: 5000 },
    checked: { help: "of each kind, compared with a loop over all places before", smoke: 3, full: 50 },
    seed: { help: "of the positions", smoke: 1, full: 1 },
  },
  async run(run) {
    const places = measureReading(run);
    const lines = readFileSync(FILE, "utf8").trimEnd().split("\n").slice(1);
    const points = lines.map((line) => line.split("\t", 2).map(Number) as [number, number]);
    const random = createRandom(run.size("seed"));
    const figures: Figure[] = [];
    for (const [name, draw] of Object.entries(KINDS)) {
      const positions = Array.from({ length: run.size("positions") }, () => draw(random));
      for (const position of positions.slice(0, run.size("checked"))) check(places, points, position);
      const runs = Array.from({ length: run.size("runs") }, () => timeOf(places, positions));
      figures.push({ name, unit: "µs/position", runs });
    }
    run.figures(figures);
  },
};

function measureReading(run: BenchRun): Places {
  const before = process.memoryUsage.rss();
  const totals: number[] = [];
  const longest: number[] = [];
  let places: Places | null = null;
  for (let round = 0; round < run.size("runs"); round++) {
    const steps = readPlaces(readFileSync(FILE));
    let [totalMs, longestMs] = [0, 0];
    for (let isDone = false; !isDone; ) {
      const startedMs = performance.now();
      const { done = false, value } = steps.next();
      const tookMs = performance.now() - startedMs;
      totalMs += tookMs;
      longestMs = Math.max(longestMs, tookMs);
      isDone = done;
      places = value ?? places;
    }
    if (round === 0) {
      const megabytes = (process.memoryUsage.rss() - before) / BYTES_A_MEGABYTE;
      run.verdict("memory once all places were read", megabytes, "MB", { atMost: 60 });
    }
    totals.push(totalMs);
    longest.push(longestMs);
  }
  run.figures([
    { name: "reading all places", unit: "ms", runs: totals },
    { name: "its longest step", unit: "ms", runs: longest },
  ]);
  run.verdict("longest step of reading", median(longest), "ms", { atMost: 20 });
  assert(places !== null, "places were read once at least");
  return places;
}

/** Microseconds per query. */
function timeOf(places: Places, positions: readonly Position[]): number {
  const startedMs = performance.now();
  for (const [latitude, longitude] of positions) places.nearest(latitude, longitude);
  return ((performance.now() - startedMs) * 1000) / positions.length;
}

function check(places: Places, points: readonly Position[], [latitude, longitude]: Position): void {
  let meters = Number.POSITIVE_INFINITY;
  for (const point of points) meters = Math.min(meters, haversineMeters(...point, latitude, longitude));
  const found = places.nearest(latitude, longitude)?.meters ?? null;
  assert(found === (meters > NEAR_METERS_MAX ? null : meters), "the nearest of all places is found");
}
