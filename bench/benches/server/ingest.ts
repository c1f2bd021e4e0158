import type { Figure } from "../../support/figures/report.ts";
import { createFleet } from "../../support/fleets/fleet.ts";
import type { Bench } from "../../support/run/bench.ts";
import { measureLoad, postRequest } from "../../support/servers/load.ts";
import { type ServerProcess, startBareServer, startWherehouse } from "../../support/servers/server.ts";

const DEVICES = 1000; // One report of each makes a batch.
const CONNECTIONS = 16;

export const bench: Bench = {
  question:
    "durable ingest over HTTP, full reports in batches of 1,000 on 16 connections, against a bare server that only parses them",
  sizes: {
    batches: { help: "batches of 1,000 reports a round", smoke: 4, full: 160 },
    rounds: { help: "times that each server is sent its batches", smoke: 1, full: 5 },
    seed: { help: "of the fleet", smoke: 1, full: 1 },
  },
  async run(run) {
    const batches = run.size("batches");
    const wherehouse = await startWherehouse();
    const bare = await startBareServer("parse");
    const ours: number[] = [];
    const control: number[] = [];
    try {
      const startMs = Date.now() - 3 * 86_400_000;
      const fleet = createFleet({ devices: DEVICES, seed: run.size("seed"), startMs, stepMs: 1000 });
      for (let round = 0; round < run.size("rounds"); round++) {
        const bodies = Array.from({ length: batches }, (_, index) =>
          new TextEncoder().encode(JSON.stringify({ locations: fleet.round(round * batches + index) })),
        );
        control.push(await send(bare, "", bodies));
        ours.push(await send(wherehouse, wherehouse.key, bodies));
      }
      await checkStored(wherehouse.url, wherehouse.key, DEVICES);
    } finally {
      await Promise.all([wherehouse.stop(), bare.stop()]);
    }
    const figures: [Figure, Figure] = [
      { name: "wherehouse", unit: "reports/s", runs: ours },
      { name: "bare, parsing only", unit: "reports/s", runs: control },
    ];
    run.figures(figures);
    run.ratio("share of the bare server", ...figures, { atLeast: 0.25 });
  },
};

/** Sends each body once; returns reports per second. */
async function send({ url }: ServerProcess, key: string, bodies: readonly Uint8Array[]): Promise<number> {
  const headers = { authorization: `Bearer ${key}`, "content-type": "application/json" };
  const requests = bodies.map((body) => postRequest(`${url}/ingest/v1/locations`, headers, body));
  let sent = 0;
  const { requestsPerSecond } = await measureLoad({
    url,
    connections: CONNECTIONS,
    next: () => requests[sent++] ?? null,
  });
  return requestsPerSecond * DEVICES;
}

/** What was acknowledged must be there, or the timing means nothing. */
async function checkStored(url: string, key: string, devices: number): Promise<void> {
  const answer = await fetch(`${url}/api/v1/locations/current?limit=1`, {
    headers: { authorization: `Bearer ${key}` },
  });
  const { pagination } = (await answer.json()) as { pagination: { total_count: number } };
  if (pagination.total_count !== devices)
    throw new Error(`${pagination.total_count} of ${devices} devices are there`);
}
