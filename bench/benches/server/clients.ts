import { type Figure, median } from "../../support/figures/report.ts";
import { overlandMessage, owntracksMessage } from "../../support/fleets/client-messages.ts";
import { createFleet, type FullReport } from "../../support/fleets/fleet.ts";
import { takeCores } from "../../support/http/cores.ts";
import type { Bench } from "../../support/run/bench.ts";
import { measureLoad, postRequest } from "../../support/servers/load.ts";
import { startWherehouse, type WherehouseProcess } from "../../support/servers/server.ts";

const DEVICES = 200;
const BATCH = 200;
const STEP_MS = 1000; // Apps send whole seconds.

/** A way to send reports. */
interface Way {
  readonly path: string;
  readonly connections: number;
  readonly batch: number;
  bodyOf(reports: readonly FullReport[]): unknown;
}

const OWNTRACKS: Way = {
  path: "/ingest/owntracks",
  connections: 64,
  batch: 1,
  bodyOf: ([report]) => owntracksMessage(report!),
};
const OVERLAND: Way = { path: "/ingest/overland", connections: 16, batch: BATCH, bodyOf: overlandMessage };
const OWN_SINGLE: Way = { path: "/ingest/v1/locations", connections: 64, batch: 1, bodyOf: ownMessage };
const OWN_BATCH: Way = { path: "/ingest/v1/locations", connections: 16, batch: BATCH, bodyOf: ownMessage };

export const bench: Bench = {
  question:
    "durable reports of phone apps against our own format: OwnTracks one a request on 64 connections, Overland 200 a request on 16",
  sizes: {
    messages: { help: "single reports a round", smoke: 200, full: 40_000 },
    batches: { help: "batches of 200 a round", smoke: 4, full: 500 },
    rounds: { help: "times that each kind is sent", smoke: 1, full: 5 },
    seed: { help: "of the fleet", smoke: 1, full: 1 },
  },
  async run(run) {
    const cores = takeCores();
    const server = await startWherehouse(undefined, cores.serverLauncher);
    const reports = createReports(run.size("seed"));
    const singles = { phone: [] as number[], native: [] as number[] };
    const batches = { phone: [] as number[], native: [] as number[] };
    try {
      for (let round = 0; round < run.size("rounds"); round++) {
        const messages = run.size("messages");
        singles.native.push(await send(server, OWN_SINGLE, reports.next(messages)));
        singles.phone.push(await send(server, OWNTRACKS, reports.next(messages)));
        const batched = run.size("batches") * BATCH;
        batches.native.push(await send(server, OWN_BATCH, reports.next(batched)));
        batches.phone.push(await send(server, OVERLAND, reports.next(batched)));
      }
      await checkStored(server);
    } finally {
      await server.stop();
      cores.release();
    }
    run.note(cores.text);
    const owntracks: [Figure, Figure] = [
      { name: "OwnTracks, one a request", unit: "reports/s", runs: singles.phone },
      { name: "our format, one a request", unit: "reports/s", runs: singles.native },
    ];
    const overland: [Figure, Figure] = [
      { name: "Overland, 200 a request", unit: "reports/s", runs: batches.phone },
      { name: "our format, 200 a request", unit: "reports/s", runs: batches.native },
    ];
    run.figures(owntracks);
    run.figures(overland);
    run.verdict("OwnTracks, durable", median(singles.phone), "reports/s", { atLeast: 10_000 });
    run.ratio("OwnTracks, of our format", ...owntracks);
    run.ratio("Overland, of our format", ...overland, { atLeast: 0.4 });
  },
};

function ownMessage(reports: readonly FullReport[]): unknown {
  return { locations: reports };
}

/** Reports of a moving fleet: no two of a device have the same time. */
function createReports(seed: number) {
  const startMs = Date.now() - 3 * 86_400_000;
  const fleet = createFleet({ devices: DEVICES, seed, startMs, stepMs: STEP_MS });
  let round = 0;
  return {
    next(count: number): FullReport[] {
      const reports: FullReport[] = [];
      while (reports.length < count) reports.push(...fleet.round(round++));
      return reports.slice(0, count);
    },
  };
}

/** Sends each report once; returns reports per second. */
async function send(
  { url, key }: WherehouseProcess,
  way: Way,
  reports: readonly FullReport[],
): Promise<number> {
  const headers = {
    authorization: `Basic ${btoa(`anna:${key}`)}`,
    "content-type": "application/json",
    "user-agent": "Owntracks-Android/gms/420506000",
  };
  const bearer = { ...headers, authorization: `Bearer ${key}` };
  const isOwn = way.bodyOf === ownMessage;
  const requests: Uint8Array[] = [];
  for (let from = 0; from < reports.length; from += way.batch) {
    const body = new TextEncoder().encode(JSON.stringify(way.bodyOf(reports.slice(from, from + way.batch))));
    requests.push(postRequest(`${url}${way.path}`, isOwn ? bearer : headers, body));
  }
  let sent = 0;
  const { requestsPerSecond } = await measureLoad({
    url,
    connections: way.connections,
    next: () => requests[sent++] ?? null,
  });
  return requestsPerSecond * way.batch;
}

/** Checks that acknowledged reports are stored. OwnTracks' device ids include the user's name. */
async function checkStored({ url, key }: WherehouseProcess): Promise<void> {
  const headers = { authorization: `Bearer ${key}` };
  const answer = await fetch(`${url}/api/v1/locations/current?limit=1`, { headers });
  const { pagination } = (await answer.json()) as { pagination: { total_count: number } };
  if (pagination.total_count !== 2 * DEVICES) throw new Error(`${pagination.total_count} devices are there`);
}
