import { median } from "../../../bench/support/report.ts";
import { store } from "../../runtime/support/client.ts";
import { createPicker } from "../../runtime/support/random.ts";
import { bostonTrack } from "../../runtime/support/track.ts";
import { seededRandom } from "../../support/seeded-random.ts";
import {
  closePlace,
  openPlace,
  type Runtime,
  readFirstKey,
  type ServerProcess,
  startServing,
} from "../../support/server-process.ts";
import { type ProcessFigures, readProcessFigures } from "./process-figures.ts";
import { createSteadyFleet } from "./steady-fleet.ts";
import { startSteadyLoad } from "./steady-load.ts";

/*
 * Question: does the server's memory stay where it is while the amount of data does?
 * Method: the steady fleet's load at fixed rates; the process as the system sees it, at fixed intervals.
 */

export interface MemoryOptions {
  readonly runtime: Runtime;
  readonly durationMs: number;
  readonly seed: number;
  readonly onSample: (elapsedMs: number) => void;
}

export interface MemorySample extends ProcessFigures {
  readonly elapsedMs: number;
}

export interface MemoryRun {
  readonly durationMs: number;
  readonly samples: readonly MemorySample[];
  readonly requests: number;
  readonly skippedRequests: number;
  readonly wrongAnswers: readonly string[];
  readonly seals: number;
  /** In memory when the load began, and as the next start counts them. */
  readonly recordsBefore: number;
  readonly recordsAfter: number;
}

const SAMPLE_MS = 10_000;
const SAMPLES_MIN = 60;
const SEAL_SECONDS_MAX = 60;
const SEALS_MIN = 12;
const BATCH_REPORTS = 1000;

export async function runMemory({ runtime, durationMs, seed, onSample }: MemoryOptions): Promise<MemoryRun> {
  const pick = createPicker(seededRandom(seed));
  const place = openPlace();
  const fleet = createSteadyFleet(bostonTrack(place.directory).reports, pick, Date.now());
  const sealSeconds = Math.max(1, Math.min(SEAL_SECONDS_MAX, Math.floor(durationMs / 1000 / SEALS_MIN)));
  const flags = ["--seal-every", `${sealSeconds}s`];
  try {
    const server = await startServing(runtime, place, flags);
    await server.says(/Ready after/);
    const client = { url: server.url, key: readFirstKey(place) };
    const first = fleet.first();
    for (let from = 0; from < first.length; from += BATCH_REPORTS)
      await store(client, first.slice(from, from + BATCH_REPORTS));
    await server.says(/Archived /);

    const load = startSteadyLoad(client, fleet, pick);
    const samples = await sample(server, durationMs, onSample);
    await load.stop();
    const seals = server.error.match(/Archived /g)?.length ?? 0;
    await server.stop();
    const again = await startServing(runtime, place);
    await again.says(/Ready after/);
    return {
      durationMs,
      samples,
      requests: load.sent,
      skippedRequests: load.skipped,
      wrongAnswers: load.wrong,
      seals,
      recordsBefore: fleet.liveRecords,
      recordsAfter: recordsOf(again),
    };
  } finally {
    await closePlace(place);
  }
}

async function sample(
  { pid }: ServerProcess,
  durationMs: number,
  onSample: MemoryOptions["onSample"],
): Promise<readonly MemorySample[]> {
  const intervalMs = Math.min(SAMPLE_MS, durationMs / SAMPLES_MIN);
  const startedMs = performance.now();
  const samples: MemorySample[] = [];
  for (let dueMs = 0; dueMs <= durationMs; dueMs += intervalMs) {
    await Bun.sleep(Math.max(0, startedMs + dueMs - performance.now()));
    const elapsedMs = performance.now() - startedMs;
    samples.push({ elapsedMs, ...readProcessFigures(pid) });
    onSample(elapsedMs);
  }
  return samples;
}

function recordsOf({ error }: ServerProcess): number {
  return Number(/with ([\d,]+) records/.exec(error)![1]!.replaceAll(",", ""));
}

/** What an hour may grow by after its first five minutes. */
export const GROWTH_MAX = 1.1;

const WARM_UP_SHARE = 1 / 12; // Five minutes of an hour.
const WARM_UP_MS_MIN = 20_000;
const WINDOW_SHARE = 1 / 60;
const WINDOW_MS_MIN = 5000;

/** Medians of what was resident when the warm-up was over and at the end, and how many times as much it became. */
export function growthOf({ samples, durationMs }: MemoryRun) {
  const warmUpMs = Math.max(durationMs * WARM_UP_SHARE, Math.min(WARM_UP_MS_MIN, durationMs / 3));
  const windowMs = Math.max(durationMs * WINDOW_SHARE, Math.min(WINDOW_MS_MIN, durationMs / 3));
  const between = (startMs: number, endMs: number) =>
    median(
      samples
        .filter(({ elapsedMs }) => elapsedMs >= startMs && elapsedMs <= endMs)
        .map(({ residentBytes }) => residentBytes),
    );
  const warmBytes = between(warmUpMs, warmUpMs + windowMs);
  const endBytes = between(durationMs - windowMs, Number.POSITIVE_INFINITY);
  return { warmUpMs, warmBytes, endBytes, growth: endBytes / warmBytes };
}
