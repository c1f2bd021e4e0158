import { findNatsServer } from "../../../test/support/nats/nats-server.ts";
import { type Figure, median } from "../../support/figures/report.ts";
import { createFleet } from "../../support/fleets/fleet.ts";
import type { Bench, BenchRun } from "../../support/run/bench.ts";
import { startCluster } from "../../support/servers/cluster.ts";
import { batchBodies, postRequest } from "../../support/servers/load.ts";
import { measureOpenLoad, percentile } from "../../support/servers/open-load.ts";
import { type ServerProcess, startWherehouse } from "../../support/servers/server.ts";

const BATCH = 100;
const DEVICES = 1000;
const PAGE = 1000;
/** Each connection waits for its answer; this many cover half a second of a standstill. */
const CONNECTIONS = 120;
const ACK_P99_MS_MAX = 25;

/** A target for an equal share of the reports. */
interface Target {
  readonly urls: readonly string[];
  readonly key: string;
}

export const bench: Bench = {
  question:
    "how long reports wait for their answer where three nodes share a log of three replicas, at a steady rate in batches of 100, against a single process with a log of its own",
  sizes: {
    reportsPerSecond: { help: "of all nodes together", smoke: 2000, full: 20_000 },
    seconds: { help: "that each way is taken for, a round", smoke: 1, full: 10 },
    rounds: { help: "times that each way is taken, after one to warm up", smoke: 1, full: 5 },
    seed: { help: "of the fleet", smoke: 1, full: 1 },
  },
  async run(run) {
    const single = await startWherehouse();
    const cluster = findNatsServer() === null ? null : await startCluster({ nodeCount: 3, replicas: 3 });
    try {
      if (cluster === null) run.note("Nodes left out: there is no nats-server.");
      await compare(
        run,
        targetOf([single], single.key),
        cluster === null ? null : targetOf(cluster.nodes, cluster.key),
      );
    } finally {
      await Promise.all([single.stop(), cluster?.stop()]);
    }
  },
};

async function compare(run: BenchRun, single: Target, cluster: Target | null): Promise<void> {
  const batches = (run.size("seconds") * run.size("reportsPerSecond")) / BATCH;
  const startMs = Date.now() - 3 * 86_400_000;
  const fleet = createFleet({ devices: DEVICES, seed: run.size("seed"), startMs, stepMs: 1000 });
  const targets = cluster === null ? [single] : [single, cluster];
  const runs = targets.map(() => ({ p50: [] as number[], p99: [] as number[] }));
  let fleetRound = 0;
  for (let round = -1; round < run.size("rounds"); round++) {
    const bodies: Uint8Array[] = [];
    while (bodies.length < batches) bodies.push(...batchBodies(fleet.round(fleetRound++), BATCH));
    const order = targets.map((_, index) => (index + round + 1) % targets.length);
    for (const index of order) {
      const latencies = await send(run, targets[index]!, bodies.slice(0, batches));
      if (round < 0) continue;
      runs[index]!.p50.push(percentile(latencies, 0.5));
      runs[index]!.p99.push(percentile(latencies, 0.99));
    }
  }
  await checkSame(targets);
  tell(run, runs);
}

function targetOf(nodes: readonly ServerProcess[], key: string): Target {
  return { urls: nodes.map(({ url }) => url), key };
}

/** Returns the sorted latencies of the batches; nodes get them concurrently in equal shares. */
async function send(
  run: BenchRun,
  { urls, key }: Target,
  bodies: readonly Uint8Array[],
): Promise<readonly number[]> {
  const headers = { authorization: `Bearer ${key}`, "content-type": "application/json" };
  const latencies = await Promise.all(
    urls.map((url, part) => {
      const own = bodies.filter((_, index) => index % urls.length === part);
      const requests = own.map((body) => postRequest(`${url}/ingest/v1/locations`, headers, body));
      let sent = 0;
      return measureOpenLoad({
        url,
        requestsPerSecond: run.size("reportsPerSecond") / BATCH / urls.length,
        connections: CONNECTIONS / urls.length,
        next: () => requests[sent++]!,
        goesOn: () => sent < requests.length,
      });
    }),
  );
  return latencies.flat().sort((a, b) => a - b);
}

/** Checks that acknowledged reports are on all nodes, with equal values. */
async function checkSame(targets: readonly Target[]): Promise<void> {
  const answers: string[] = [];
  for (const { urls, key } of targets) for (const url of urls) answers.push(await currentOf(url, key));
  if (new Set(answers).size > 1) throw new Error("the servers answer differently");
}

async function currentOf(url: string, key: string): Promise<string> {
  const pages: unknown[] = [];
  for (let offset = 0; offset < DEVICES; offset += PAGE) {
    const answer = await fetch(`${url}/api/v1/locations/current?limit=${PAGE}&offset=${offset}`, {
      headers: { authorization: `Bearer ${key}` },
    });
    const { locations, pagination } = (await answer.json()) as Record<string, unknown>;
    if (!Array.isArray(locations) || locations.length === 0) throw new Error("a server has no devices");
    pages.push(locations, pagination);
  }
  return JSON.stringify(pages);
}

interface Runs {
  readonly p50: readonly number[];
  readonly p99: readonly number[];
}

function tell(run: BenchRun, [single, nodes]: readonly Runs[]): void {
  const figure = (name: string, values: readonly number[]): Figure => ({ name, unit: "ms", runs: values });
  const control = [figure("single process, p50", single!.p50), figure("single process, p99", single!.p99)];
  if (nodes === undefined) {
    run.figures(control);
    return;
  }
  const ours = [figure("three nodes, p50", nodes.p50), figure("three nodes, p99", nodes.p99)];
  run.figures([...ours, ...control]);
  run.ratio("p50, times a single process", ours[0]!, control[0]!);
  run.ratio("p99, times a single process", ours[1]!, control[1]!);
  const bound = run.isSmoke ? undefined : { atMost: ACK_P99_MS_MAX };
  run.verdict("three nodes, p99", median(nodes.p99), "ms", bound);
}
