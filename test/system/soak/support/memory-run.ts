import { median } from "../../../../bench/support/figures/report.ts";
import { seededRandom } from "../../../support/seeded-random.ts";
import {
  closePlace,
  createOperatorKey,
  openPlace,
  type Runtime,
  readFirstKey,
  startServing,
} from "../../../support/server-process.ts";
import { until } from "../../../support/until.ts";
import { type Client, get, store } from "../../support/client.ts";
import { pause } from "../../support/pause.ts";
import { createPicker } from "../../support/random.ts";
import { bostonTrack } from "../../support/track.ts";
import { type OwnFigures, readOwnFigures } from "./own-figures.ts";
import { type ProcessFigures, readProcessFigures } from "./process-figures.ts";
import { createSteadyFleet, type SteadyFleet } from "./steady-fleet.ts";
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

/** The system's word on the process, and the process's own. */
export interface MemorySample extends ProcessFigures, OwnFigures {
  readonly elapsedMs: number;
}

export interface MemoryRun {
  readonly durationMs: number;
  readonly samples: readonly MemorySample[];
  readonly requests: number;
  readonly skippedRequests: number;
  readonly wrongAnswers: readonly string[];
  readonly seals: number;
  /** Records that memory holds all the time; what came since the last seal is on top. */
  readonly steadyRecords: number;
}

const SAMPLE_MS = 10_000;
const SAMPLES_MIN = 60;
const SEAL_SECONDS_MAX = 60;
const SEALS_MIN = 12;
const SEALS_WANTED = 3;
const BATCH_REPORTS = 1000;
const LONG_MS = 300_000;
const TEXTS_BYTES = 135e6; // The memory of `src/http/encode/answer-buffer.ts`.

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
    if (durationMs >= LONG_MS) await fillTexts(client, fleet);

    const operator = { ...client, key: await createOperatorKey(runtime, place) };
    const load = startSteadyLoad(client, fleet, pick);
    const take = async (elapsedMs: number) => ({
      elapsedMs,
      ...readProcessFigures(server.pid),
      ...(await readOwnFigures(operator)),
    });
    const samples = await takeSamples(take, durationMs, onSample);
    const seals = () => server.error.match(/Archived /g)?.length ?? 0;
    // A machine with much else to do comes to few in a short time.
    await until(() => seals() >= SEALS_WANTED);
    await load.stop();
    return {
      durationMs,
      samples,
      requests: load.sent,
      skippedRequests: load.skipped,
      wrongAnswers: load.wrong,
      seals: seals(),
      steadyRecords: fleet.liveRecords,
    };
  } finally {
    await closePlace(place);
  }
}

/**
 * The server keeps texts of newest records in a ring, whose memory it touches as they are written: some hours of this
 * load would pass before the first round is over.
 */
async function fillTexts(client: Client, fleet: SteadyFleet): Promise<void> {
  for (let bytes = 0; bytes < TEXTS_BYTES; ) {
    await store(client, fleet.newest());
    const answer = await get(client, `/api/v1/locations/current?limit=${fleet.deviceIds.length}`);
    bytes += (await answer.arrayBuffer()).byteLength;
  }
}

async function takeSamples(
  take: (elapsedMs: number) => Promise<MemorySample>,
  durationMs: number,
  onSample: MemoryOptions["onSample"],
): Promise<readonly MemorySample[]> {
  const intervalMs = Math.min(SAMPLE_MS, durationMs / SAMPLES_MIN);
  const startedMs = performance.now();
  const samples: MemorySample[] = [];
  for (let dueMs = 0; dueMs <= durationMs; dueMs += intervalMs) {
    await pause(Math.max(0, startedMs + dueMs - performance.now()));
    const sample = await take(performance.now() - startedMs);
    samples.push(sample);
    onSample(sample.elapsedMs);
  }
  return samples;
}

/** What an hour may grow by after its first five minutes. */
export const GROWTH_MAX = 1.1;

const WARM_UP_SHARE = 1 / 12; // Five minutes of an hour.
const WARM_UP_MS_MIN = 10_000;

/**
 * Medians of what was resident in as long a stretch after the warm-up as the warm-up took, and in as long a one at
 * the end; and how many times as much it became. Collectors let memory rise and fall by half, so moments say nothing.
 */
export function growthOf({ samples, durationMs }: MemoryRun) {
  const warmUpMs = Math.max(durationMs * WARM_UP_SHARE, Math.min(WARM_UP_MS_MIN, durationMs / 3));
  const between = (startMs: number, endMs: number) =>
    median(
      samples
        .filter(({ elapsedMs }) => elapsedMs >= startMs && elapsedMs <= endMs)
        .map(({ residentBytes }) => residentBytes),
    );
  const warmBytes = between(warmUpMs, 2 * warmUpMs);
  const endBytes = between(durationMs - warmUpMs, Number.POSITIVE_INFINITY);
  return { warmUpMs, warmBytes, endBytes, growth: endBytes / warmBytes };
}
