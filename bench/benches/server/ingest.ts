import type { Figure } from "../../support/figures/report.ts";
import { createFleet, type FullReport } from "../../support/fleets/fleet.ts";
import type { Bench, BenchRun } from "../../support/run/bench.ts";
import { measureLoad, postRequest } from "../../support/servers/load.ts";
import { type ServerProcess, startBareServer, startWherehouse } from "../../support/servers/server.ts";

const DEVICES = 1000;
const CONNECTIONS = 16;

/** The required share of the bare server's reports, by batch size. */
const SIZES = [
  { batchSize: 1000, shareMin: 0.4 },
  { batchSize: 100, shareMin: 0.23 },
] as const;

export const bench: Bench = {
  question:
    "durable ingest over HTTP, full reports in batches of 1,000 and of 100 on 16 connections, against a bare server that only parses them",
  sizes: {
    batches: { help: "of 1,000 reports a round, and ten times as many of 100", smoke: 4, full: 160 },
    rounds: { help: "times that each server is sent its batches", smoke: 1, full: 5 },
    seed: { help: "of the fleet", smoke: 1, full: 1 },
  },
  async run(run) {
    for (const { batchSize, shareMin } of SIZES) {
      const name = `batches of ${batchSize.toLocaleString("en")}`;
      const { ours, control } = await measure(run, batchSize);
      const figures: [Figure, Figure] = [
        { name: `${name}, wherehouse`, unit: "reports/s", runs: ours },
        { name: `${name}, bare, parsing only`, unit: "reports/s", runs: control },
      ];
      run.figures(figures);
      run.ratio(
        `${name}: share of the bare server`,
        ...figures,
        run.isSmoke ? undefined : { atLeast: shareMin },
      );
    }
  },
};

/** Measures reports/s of both servers in turns, each first equally often. */
async function measure(run: BenchRun, batchSize: number) {
  const wherehouse = await startWherehouse();
  const bare = await startBareServer("parse");
  const ours: number[] = [];
  const control: number[] = [];
  const sendOurs = async (bodies: readonly Uint8Array[]) =>
    ours.push(batchSize * (await send(wherehouse, wherehouse.key, bodies)));
  const sendControl = async (bodies: readonly Uint8Array[]) =>
    control.push(batchSize * (await send(bare, "", bodies)));
  try {
    const startMs = Date.now() - 3 * 86_400_000;
    const fleet = createFleet({ devices: DEVICES, seed: run.size("seed"), startMs, stepMs: 1000 });
    const thousands = run.size("batches");
    for (let round = 0; round < run.size("rounds"); round++) {
      const bodies = Array.from({ length: thousands }, (_, index) =>
        bodiesOf(fleet.round(round * thousands + index), batchSize),
      ).flat();
      for (const turn of round % 2 === 0 ? [sendControl, sendOurs] : [sendOurs, sendControl])
        await turn(bodies);
    }
    await checkStored(wherehouse.url, wherehouse.key, DEVICES);
  } finally {
    await Promise.all([wherehouse.stop(), bare.stop()]);
  }
  return { ours, control };
}

function bodiesOf(reports: readonly FullReport[], batchSize: number): Uint8Array[] {
  return Array.from({ length: reports.length / batchSize }, (_, index) => {
    const locations = reports.slice(index * batchSize, (index + 1) * batchSize);
    return new TextEncoder().encode(JSON.stringify({ locations }));
  });
}

/** Sends each body once; returns bodies per second. */
async function send({ url }: ServerProcess, key: string, bodies: readonly Uint8Array[]): Promise<number> {
  const headers = { authorization: `Bearer ${key}`, "content-type": "application/json" };
  const requests = bodies.map((body) => postRequest(`${url}/ingest/v1/locations`, headers, body));
  let sent = 0;
  const { requestsPerSecond } = await measureLoad({
    url,
    connections: CONNECTIONS,
    next: () => requests[sent++] ?? null,
  });
  return requestsPerSecond;
}

/** Checks that acknowledged reports are stored. */
async function checkStored(url: string, key: string, devices: number): Promise<void> {
  const answer = await fetch(`${url}/api/v1/locations/current?limit=1`, {
    headers: { authorization: `Bearer ${key}` },
  });
  const { pagination } = (await answer.json()) as { pagination: { total_count: number } };
  if (pagination.total_count !== devices)
    throw new Error(`${pagination.total_count} of ${devices} devices are there`);
}
