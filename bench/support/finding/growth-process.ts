import { heapStats } from "bun:jsc";
import { createRandom } from "../fleets/random.ts";
import { answerParent, childOptions, startChild } from "../run/child.ts";
import { createGrowingCity, type GrowingCityOptions } from "./growing-city.ts";
import { createLinearScan } from "./linear-scan.ts";
import { createOurs } from "./ours.ts";
import { createQueries } from "./queries.ts";
import { checkAnswers, timeMoves, timeQueries } from "./race.ts";
import { createWalk } from "./walk.ts";

/*
 * A growing city in a process of its own, so that its memory is nobody else's. It waits between measurements, and so
 * cities of all sizes can take turns.
 */
export interface GrowthProcess {
  readonly devices: number;
  readonly built: Built;
  measure(): Promise<Measured>;
  end(): Promise<void>;
}

export interface GrowthOptions extends GrowingCityOptions {
  readonly limit: number;
  /** In each measurement. */
  readonly moves: number;
  /** Queries that a linear scan answers too, before anything is timed. */
  readonly checked: number;
}

export interface Built {
  readonly radiusMiles: number;
  /** In a circle, on average. */
  readonly matches: number;
  readonly linearScanMicros: number;
  /** What the index takes, as the collector counts it and as the system does. */
  readonly heapBytes: number;
  readonly residentBytes: number;
}

export interface Measured {
  readonly queryMicros: number;
  readonly moveMicros: number;
}

/** No query is left out for time: they are the same ones at every size. */
const SLICE_MS = 60_000;

const SETTLE_MS = 30;

export async function startGrowthProcess(options: GrowthOptions): Promise<GrowthProcess> {
  const child = await startChild<"measure", Measured, Built>({ path: import.meta.path, options });
  return {
    devices: options.devices,
    built: child.greeting,
    measure: () => child.ask("measure"),
    end: () => child.end(),
  };
}

if (import.meta.main) await live(childOptions());

async function live(options: GrowthOptions): Promise<void> {
  const { positions, centers, radiusMiles } = createGrowingCity(options);
  const kind = { miles: radiusMiles, limit: options.limit, age: "24 h" } as const;
  const walk = createWalk(positions, options.seed);
  const random = createRandom(options.seed);

  const before = await settledBytes();
  const ours = createOurs(positions);
  const after = await settledBytes();

  const queries = createQueries(centers, kind, () => walk.nowMs, random);
  const checked = queries.slice(0, options.checked);
  const scan = createLinearScan(positions);
  checkAnswers([scan, ours], checked);
  const linearScanMicros = timeQueries(scan, checked, SLICE_MS);

  const built: Built = {
    radiusMiles,
    matches: queries.reduce((sum, query) => sum + ours.find(query).matches, 0) / queries.length,
    linearScanMicros,
    heapBytes: after.heap - before.heap,
    residentBytes: after.resident - before.resident,
  };
  answerParent(built, async (): Promise<Measured> => {
    const queries = createQueries(centers, kind, () => walk.nowMs, random);
    const moves = walk.next(options.moves);
    Bun.gc(true);
    const queryMicros = timeQueries(ours, queries, SLICE_MS);
    return { queryMicros, moveMicros: 1e6 / timeMoves(ours, moves) };
  });
}

/** Once the collector is done and the allocator has had time to give pages back. */
async function settledBytes() {
  for (let i = 0; i < 3; i++) {
    Bun.gc(true);
    await Bun.sleep(SETTLE_MS);
  }
  return { heap: heapStats().heapSize, resident: process.memoryUsage().rss }; // The heap counts buffers in.
}
