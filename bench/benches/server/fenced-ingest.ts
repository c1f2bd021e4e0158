import { createFleet, type FullReport } from "../../support/fleets/fleet.ts";
import type { Bench, BenchRun } from "../../support/run/bench.ts";
import { measureLoad, postRequest } from "../../support/servers/load.ts";
import { type ServerProcess, startWherehouse } from "../../support/servers/server.ts";

const DEVICES = 1000;
const CONNECTIONS = 16;
const BATCH_SIZE = 100;
const FENCES_A_REQUEST = 500;
/** Devices are at one fence of this many. */
const TOUCHED = 100;
const SHARE_MIN = 0.95;

export const bench: Bench = {
  question:
    "durable ingest over HTTP in batches of 100 on 16 connections, with geofences of which one in a hundred is touched, against none",
  sizes: {
    fences: { help: "of the app", smoke: 200, full: 10_000 },
    batches: { help: "of 100 reports a round", smoke: 10, full: 1600 },
    rounds: { help: "times that each server is sent its batches", smoke: 1, full: 7 },
    seed: { help: "of the fleet", smoke: 1, full: 1 },
  },
  async run(run) {
    const { fenced, plain, behindSeconds } = await measure(run);
    const name = `${run.size("fences").toLocaleString("en")} geofences`;
    const figures = [
      { name, unit: "reports/s", runs: fenced },
      { name: "none", unit: "reports/s", runs: plain },
    ] as const;
    run.figures([...figures, { name: "events made after the last report", unit: "s", runs: behindSeconds }]);
    run.ratio(
      "share of the ingest without geofences",
      ...figures,
      run.isSmoke ? undefined : { atLeast: SHARE_MIN },
    );
  },
};

async function measure(run: BenchRun) {
  const servers = { fenced: await startWherehouse(), plain: await startWherehouse() };
  const rates = { fenced: [] as number[], plain: [] as number[] };
  const behindSeconds: number[] = [];
  try {
    // Fences are in force from their creation on, so reports are of this time: ten times faster than it passes.
    const fleet = createFleet({
      devices: DEVICES,
      seed: run.size("seed"),
      startMs: Date.now() + 10_000,
      stepMs: 100,
    });
    await makeFences(servers.fenced, run.size("fences"), fleet.round(0));
    const rounds = Math.ceil((run.size("batches") * BATCH_SIZE) / DEVICES);
    for (let round = 0; round < run.size("rounds"); round++) {
      const reports = Array.from({ length: rounds }, (_, index) =>
        fleet.round(1 + round * rounds + index),
      ).flat();
      const bodies = bodiesOf(reports).slice(0, run.size("batches"));
      for (const turn of round % 2 === 0 ? (["plain", "fenced"] as const) : (["fenced", "plain"] as const))
        rates[turn].push(BATCH_SIZE * (await send(servers[turn], bodies)));
      behindSeconds.push(await secondsToCatchUp(servers.fenced));
    }
    await checkEvents(servers.fenced);
  } finally {
    await Promise.all([servers.fenced.stop(), servers.plain.stop()]);
  }
  return { ...rates, behindSeconds };
}

type Wherehouse = Awaited<ReturnType<typeof startWherehouse>>;

async function ask({ url, key }: Wherehouse, path: string, body?: object): Promise<Response> {
  const headers = { authorization: `Bearer ${key}`, "content-type": "application/json" };
  const init = body === undefined ? { headers } : { method: "POST", headers, body: JSON.stringify(body) };
  const answer = await fetch(`${url}${path}`, init);
  if (answer.status !== 200) throw new Error(`${path}: ${answer.status} ${await answer.text()}`);
  return answer;
}

/** Fences where some devices begin, and a hundred times as many around the south pole. */
async function makeFences(server: Wherehouse, count: number, reports: readonly FullReport[]): Promise<void> {
  const features = Array.from({ length: count }, (_, index) => {
    const report = reports[Math.floor(index / TOUCHED)]!;
    const isTouched = index % TOUCHED === 0;
    const place = isTouched
      ? [report.longitude, report.latitude]
      : [(index % 3500) / 10 - 175, -60 - index / 1000];
    return {
      type: "Feature",
      geometry: { type: "Point", coordinates: place },
      properties: { name: `Fence ${index}`, radius_meters: 300, initial: "event" },
    };
  });
  for (let from = 0; from < count; from += FENCES_A_REQUEST)
    await ask(server, "/api/v1/geofences/import", {
      type: "FeatureCollection",
      features: features.slice(from, from + FENCES_A_REQUEST),
    });
}

function bodiesOf(reports: readonly FullReport[]): Uint8Array[] {
  return Array.from({ length: reports.length / BATCH_SIZE }, (_, index) => {
    const locations = reports.slice(index * BATCH_SIZE, (index + 1) * BATCH_SIZE);
    return new TextEncoder().encode(JSON.stringify({ locations }));
  });
}

/** Sends each body once; returns bodies per second. */
async function send(
  { url, key }: ServerProcess & Wherehouse,
  bodies: readonly Uint8Array[],
): Promise<number> {
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

/** How long it takes until no new event is stored. */
async function secondsToCatchUp(server: Wherehouse): Promise<number> {
  const startedMs = performance.now();
  let [last, lastMs] = [-1, startedMs];
  while (performance.now() - lastMs < 500) {
    const { pagination } = (await (await ask(server, "/api/v1/events?limit=1")).json()) as Events;
    if (pagination.after !== last) [last, lastMs] = [pagination.after, performance.now()];
  }
  return (lastMs - startedMs) / 1000;
}

interface Events {
  readonly pagination: { readonly after: number };
}

async function checkEvents(server: Wherehouse): Promise<void> {
  const { pagination } = (await (await ask(server, "/api/v1/events?limit=1")).json()) as Events;
  if (pagination.after === 0) throw new Error("the geofences made no event");
}
