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
 * A growing city in a separate process, so that its memory is measured alone. It waits between measurements, so that
 * cities of all sizes take turns.
 */
export interface GrowthProcess {
  readonly devices: number;
  readonly built: Built;
  measure(): Promise<Measured>;
  end(): Promise<void>;
}

export interface GrowthOptions extends GrowingCityOptions {
  readonly limit: number;
  /** The number of moves per measurement. */
  readonly moves: number;
  /** The number of queries compared with a linear scan before the timing. */
  readonly checked: number;
}

export interface Built {
  readonly radiusMiles: number;
  /** The average number of matches in a circle. */
  readonly matches: number;
  readonly linearScanMicros: number;
  /** The index's memory, by the garbage collector and by the system. */
  readonly heapBytes: number;
  readonly residentBytes: number;
}

export interface Measured {
  readonly queryMicros: number;
  readonly moveMicros: number;
}

/** Long enough for all queries, which are the same at every size. */
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

/** Memory after garbage collection, and after the allocator has returned pages. */
async function settledBytes() {
  for (let i = 0; i < 3; i++) {
    Bun.gc(true);
    await Bun.sleep(SETTLE_MS);
  }
  return { heap: heapStats().heapSize, resident: process.memoryUsage().rss }; // The heap includes buffers.
}
