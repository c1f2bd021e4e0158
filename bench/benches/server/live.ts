import type { Figure } from "../../support/figures/report.ts";
import { drawPoints } from "../../support/fleets/metropolis.ts";
import { createRandom } from "../../support/fleets/random.ts";
import { takeCores } from "../../support/http/cores.ts";
import { chooseQuestions, NEARBY_KINDS } from "../../support/http/nearby-kinds.ts";
import { createMoves } from "../../support/http/reports/moves.ts";
import { chooseClient } from "../../support/http/turn.ts";
import { measureLatencies } from "../../support/live/latency.ts";
import { type LiveCity, startLiveCity, viewersWithBoxes } from "../../support/live/live-city.ts";
import { corePercent, residentMegabytes } from "../../support/live/process-figures.ts";
import { startViewers } from "../../support/live/viewers.ts";
import type { Bench, BenchRun, Bound } from "../../support/run/bench.ts";
import { forSeconds, measureLoad } from "../../support/servers/load.ts";
import { percentile } from "../../support/servers/open-load.ts";

const JUDGED = { devices: 20_000, viewers: 1000, stallSeconds: 60, pairs: 10 } as const;
const CHANGES_PER_SECOND = 2000;
const FLOOD_CHANGES_PER_SECOND = 20_000;
const INGEST_BATCH = 1000;
const INGEST_CONNECTIONS = 16;
const BOX_SHARE = 0.01;
const EVERYTHING = "/api/v1/live";
const POINTS_A_QUESTION = 1.5;

export const bench: Bench = {
  question:
    "how soon do viewers of the live stream see a report, and what do they cost the server and others?",
  sizes: {
    devices: {
      help: "of the metropolis; those heard of in the last day move",
      smoke: 500,
      full: JUDGED.devices,
    },
    reports: { help: "single ones whose events are waited for", smoke: 3, full: 200 },
    viewers: { help: "with a box around 1 % of the devices each", smoke: 10, full: JUDGED.viewers },
    seconds: { help: "that viewers are told of 2,000 changes a second", smoke: 1, full: 20 },
    stallSeconds: { help: "in which one takes nothing of 20,000 a second", smoke: 1, full: 15 },
    pairs: { help: "of turns with a viewer of everything and without", smoke: 1, full: JUDGED.pairs },
    turnSeconds: { help: "of such a turn", smoke: 0.05, full: 2 },
    seed: { help: "of the metropolis, boxes and pauses", smoke: 1, full: 1 },
  },
  async run(run) {
    const cores = takeCores();
    run.note(cores.text);
    const options = {
      devices: run.size("devices"),
      seed: run.size("seed"),
      nowMs: Date.now(),
      tracks: 0,
      trackReports: 0,
    };
    const live = await startLiveCity(options, run.size("viewers"), cores);
    try {
      await measureIdle(run, live);
      await measureCrowd(run, live);
      await measureStall(run, live);
      await measureCosts(run, live);
    } finally {
      await live.stop();
      cores.release();
    }
  },
};

/** Whether the bounds were set for these sizes. */
function judged(run: BenchRun, names: readonly (keyof typeof JUDGED)[], bound: Bound): Bound | undefined {
  return !run.isSmoke && names.every((name) => run.size(name) === JUDGED[name]) ? bound : undefined;
}

async function measureIdle(run: BenchRun, { server }: LiveCity): Promise<void> {
  const latenciesMs = await measureLatencies(server, run.size("reports"), createRandom(run.size("seed")));
  run.verdict("acknowledged to event, idle, p50", percentile(latenciesMs, 0.5), "ms");
  const bound = judged(run, [], { atMost: 300 });
  run.verdict("acknowledged to event, idle, p99", percentile(latenciesMs, 0.99), "ms", bound);
}

/** Sends the same reports without viewers and with many, each of whom gets a part of the changes. */
async function measureCrowd(run: BenchRun, live: LiveCity): Promise<void> {
  const { server, reporter } = live;
  const seconds = run.size("seconds");
  const report = () => reporter.report(CHANGES_PER_SECOND, seconds);
  const alone = await corePercent(server.pid, report);
  const asked = await viewersWithBoxes(live, run.size("viewers"), BOX_SHARE, run.size("seed"));
  const viewers = await startViewers(server.url, asked);
  try {
    await report(); // Until the state is stable.
    await viewers.count();
    const before = residentMegabytes(server.pid);
    const watched = await corePercent(server.pid, report);
    const { events, bytes, resets } = await viewers.count();
    run.verdict("boxes: events", events / seconds, "events/s");
    run.verdict("boxes: sent", bytes / seconds / 1e6, "MB/s");
    run.verdict("boxes: resets", resets, "resets", { atMost: 0 });
    run.verdict("boxes: the server without viewers", alone, "% of a core");
    const bound = judged(run, ["devices", "viewers"], { atMost: 25 });
    run.verdict("boxes: viewers take", watched - alone, "% of a core", bound);
    run.verdict("boxes: memory grows by", residentMegabytes(server.pid) - before, "MB");
  } finally {
    await viewers.end();
  }
}

async function measureStall(run: BenchRun, { server, reporter }: LiveCity): Promise<void> {
  const seconds = run.size("stallSeconds");
  await reporter.report(FLOOD_CHANGES_PER_SECOND, seconds); // The cost of the records alone.
  const alone = residentMegabytes(server.pid);
  await reporter.report(FLOOD_CHANGES_PER_SECOND, seconds);
  const grown = residentMegabytes(server.pid);
  const viewers = await startViewers(server.url, [{ path: EVERYTHING, key: server.key }]);
  try {
    await viewers.pause();
    await reporter.report(FLOOD_CHANGES_PER_SECOND, seconds);
    const more = residentMegabytes(server.pid) - grown - (grown - alone);
    run.verdict(
      "stalled: memory, more than without it",
      more,
      "MB",
      judged(run, ["stallSeconds"], { atMost: 20 }),
    );
    await viewers.count();
    await viewers.resume();
    await Bun.sleep(1000);
    const { resets } = await viewers.count();
    run.verdict("stalled: resets when it goes on", resets, "resets");
  } finally {
    await viewers.end();
  }
}

/** Takes turns with and without a viewer of everything, each first equally often. */
async function measureCosts(run: BenchRun, live: LiveCity): Promise<void> {
  const { server, reporter, city } = live;
  const [pairs, seconds, seed] = [run.size("pairs"), run.size("turnSeconds"), run.size("seed")];
  const client = chooseClient([seconds]);
  const points = drawPoints(Math.ceil(20 * POINTS_A_QUESTION), seed + 1);
  const headers = { authorization: `Bearer ${server.key}` };
  const kind = NEARBY_KINDS.at(-1)!;
  const questions = await chooseQuestions({ url: server.url, headers, kind, points, count: 20, seed });
  const nearby = { watched: [] as number[], alone: [] as number[] };
  const ingest = { watched: [] as number[], alone: [] as number[] };
  for (let pair = 0; pair < pairs; pair++) {
    const order = pair % 2 === 0 ? (["watched", "alone"] as const) : (["alone", "watched"] as const);
    for (const mode of order) {
      const asked = mode === "watched" ? [{ path: EVERYTHING, key: server.key }] : [];
      const viewers = await startViewers(server.url, asked);
      const reporting = reporter.report(CHANGES_PER_SECOND, seconds);
      nearby[mode].push((await client.ask(server, questions, seconds)).requestsPerSecond);
      await reporting;
      ingest[mode].push(await ingestReports(live, seconds));
      await viewers.end();
    }
  }
  run.note(`${city.live.length.toLocaleString("en")} devices move; ${client.text}`);
  const bound = judged(run, ["devices", "pairs"], { atLeast: 0.97 });
  report(run, "nearby beside 2,000 changes a second", "requests/s", nearby, bound);
  report(run, "ingest, as fast as it goes", "reports/s", ingest, bound);
}

/** Acknowledged reports a second. */
async function ingestReports({ city, server }: LiveCity, seconds: number): Promise<number> {
  const { url, key } = server;
  const { metropolis, live: devices } = city;
  const moves = createMoves({ url, key, metropolis, devices, batchSize: INGEST_BATCH, seed: 1 });
  const next = forSeconds(seconds, () => moves.next(Date.now()));
  const { requestsPerSecond } = await measureLoad({ url, connections: INGEST_CONNECTIONS, next });
  return requestsPerSecond * Math.min(INGEST_BATCH, devices.length);
}

function report(
  run: BenchRun,
  name: string,
  unit: string,
  { watched, alone }: { readonly watched: readonly number[]; readonly alone: readonly number[] },
  bound: Bound | undefined,
): void {
  const figures: [Figure, Figure] = [
    { name: `${name}, one viewer of everything`, unit, runs: watched },
    { name: `${name}, nobody`, unit, runs: alone },
  ];
  run.figures(figures);
  run.ratio(name, ...figures, bound);
}
