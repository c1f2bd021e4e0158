import { findNatsServer } from "../../../test/support/nats/nats-server.ts";
import { createMetropolis, drawPoints, type Metropolis } from "../../support/fleets/metropolis.ts";
import { NEARBY_KINDS, nearbyQuestion } from "../../support/http/nearby-kinds.ts";
import { type Client, chooseClient } from "../../support/http/turn.ts";
import type { Bench, BenchRun } from "../../support/run/bench.ts";
import { type ClusterProcesses, startCluster } from "../../support/servers/cluster.ts";
import { batchBodies, measureLoad, postRequest } from "../../support/servers/load.ts";
import { type ServerProcess, startWherehouse } from "../../support/servers/server.ts";

const BATCH = 1000;
/** Connections that report, shared by the nodes of a target. */
const WRITERS = 8;
/** Questions whose answers are compared among all nodes. */
const COMPARED = 20;
const [KIND] = NEARBY_KINDS;

/** Servers that share all questions and all reports. */
interface Target {
  readonly name: string;
  readonly nodes: readonly ServerProcess[];
  readonly key: string;
}

/** By target, what each round reached. */
interface Rates {
  readonly pages: number[];
  readonly reports: number[];
}

export const bench: Bench = {
  question:
    "how many pages of nearby, and how many reports, a second do one node and two nodes of a cluster manage on this machine, against a single process with a log of its own",
  sizes: {
    devices: { help: "of the metropolis", smoke: 2000, full: 200_000 },
    questions: { help: "different questions", smoke: 20, full: 2000 },
    rounds: { help: "times that each target is measured", smoke: 1, full: 5 },
    seconds: { help: "of questions a round", smoke: 0.2, full: 4 },
    reports: { help: "of each round of reports", smoke: 4000, full: 200_000 },
    seed: { help: "of the metropolis and the points asked from", smoke: 1, full: 1 },
  },
  async run(run) {
    const single = await startWherehouse();
    const clusters: ClusterProcesses[] = [];
    try {
      const targets: Target[] = [{ name: "a single process", nodes: [single], key: single.key }];
      if (findNatsServer() === null) run.note("Nodes left out: there is no nats-server.");
      else {
        for (const nodeCount of [1, 2]) {
          const cluster = await startCluster({ nodeCount, replicas: 1 });
          clusters.push(cluster);
          targets.push({ name: nodeCount === 1 ? "one node" : "two nodes", ...cluster });
        }
      }
      await compare(run, targets);
    } finally {
      await Promise.all([single.stop(), ...clusters.map((cluster) => cluster.stop())]);
    }
  },
};

async function compare(run: BenchRun, targets: readonly Target[]): Promise<void> {
  const [devices, seed, seconds] = [run.size("devices"), run.size("seed"), run.size("seconds")];
  const city = createMetropolis({ devices, seed, nowMs: Date.now() });
  const client = chooseClient([seconds]);
  run.note(client.text);
  const points = drawPoints(run.size("questions"), seed + 1);
  const paths = points.map((point) => nearbyQuestion(KIND!, point, 24).path);
  for (const target of targets) await report(target, bodiesOf(city, devices, 0));
  await checkSame(targets, paths.slice(0, COMPARED));

  const rates = targets.map((): Rates => ({ pages: [], reports: [] }));
  const count = Math.min(devices, run.size("reports"));
  for (let round = 0; round < run.size("rounds"); round++) {
    for (const turn of targets.keys()) {
      const index = (turn + round) % targets.length;
      const target = targets[index]!;
      rates[index]!.pages.push(await ask(client.ask, target, paths, seconds));
      rates[index]!.reports.push(await report(target, bodiesOf(city, count, round + 1)));
    }
  }
  await checkSame(targets, paths.slice(0, COMPARED));
  tell(run, targets, rates);
}

/** Bodies that report devices once, each some milliseconds after its last report. */
function bodiesOf(city: Metropolis, count: number, round: number): Uint8Array[] {
  const reports = Array.from({ length: count }, (_, index) => {
    const report = city.report(index);
    return { ...report, timestamp: Number(report.timestamp) + round };
  });
  return batchBodies(reports, BATCH);
}

/** Returns the reports that all nodes together acknowledge in a second. */
async function report({ nodes, key }: Target, bodies: readonly Uint8Array[]): Promise<number> {
  const headers = { authorization: `Bearer ${key}`, "content-type": "application/json" };
  let sent = 0;
  const loads = await Promise.all(
    nodes.map(({ url }) =>
      measureLoad({
        url,
        connections: WRITERS / nodes.length,
        next() {
          const body = bodies[sent++];
          return body === undefined ? null : postRequest(`${url}/ingest/v1/locations`, headers, body);
        },
      }),
    ),
  );
  return loads.reduce((sum, { requestsPerSecond }) => sum + requestsPerSecond * BATCH, 0);
}

/** Returns the pages that all nodes together answer in a second. */
async function ask(client: Client, target: Target, paths: readonly string[], seconds: number) {
  const questions = { paths, headers: { authorization: `Bearer ${target.key}` } };
  const turns = await Promise.all(target.nodes.map((node) => client(node, questions, seconds)));
  return turns.reduce((sum, { requestsPerSecond }) => sum + requestsPerSecond, 0);
}

/** Checks that all nodes of all targets find the same devices. */
async function checkSame(targets: readonly Target[], paths: readonly string[]): Promise<void> {
  const askers = await Promise.all(targets.map((target) => askersOf(target, paths[0]!)));
  for (const path of paths) {
    const answers = new Set<string>();
    for (const get of askers.flat()) {
      const { results, pagination } = (await (await get(path)).json()) as Record<string, unknown>;
      answers.add(JSON.stringify([results, pagination]));
    }
    if (answers.size > 1) throw new Error(`the nodes answer differently: ${path}`);
  }
}

/** For each node, how to ask it so that its answer includes all reports that any node has acknowledged. */
async function askersOf({ nodes, key }: Target, path: string) {
  const headers = { authorization: `Bearer ${key}` };
  const answers = await Promise.all(nodes.map(({ url }) => fetch(url + path, { headers })));
  const sequence = Math.max(...answers.map((answer) => Number(answer.headers.get("wherehouse-sequence"))));
  const atLeast = { ...headers, "wherehouse-min-sequence": String(sequence) };
  return nodes.map(
    ({ url }) =>
      (wanted: string) =>
        fetch(url + wanted, { headers: atLeast }),
  );
}

function tell(run: BenchRun, targets: readonly Target[], rates: readonly Rates[]): void {
  for (const [unit, of] of [
    ["pages/s", ({ pages }: Rates) => pages],
    ["reports/s", ({ reports }: Rates) => reports],
  ] as const) {
    const figures = targets.map(({ name }, index) => ({
      name: `${unit}: ${name}`,
      unit,
      runs: of(rates[index]!),
    }));
    run.figures(figures);
    const [single, ...others] = figures;
    for (const other of others) run.ratio(`${other.name}, times a single process`, other, single!);
  }
}
