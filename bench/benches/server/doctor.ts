import { readFileSync } from "node:fs";
import { join } from "node:path";
import { assert } from "../../../src/lib/assert.ts";
import type { Figure } from "../../support/figures/report.ts";
import { createFleet } from "../../support/fleets/fleet.ts";
import { type Cores, takeCores } from "../../support/http/cores.ts";
import { answeredOf, CONNECTIONS, type Turn, timed } from "../../support/http/turn.ts";
import type { Bench, BenchRun } from "../../support/run/bench.ts";
import { bunForServer } from "../../support/run/profiling.ts";
import { measureLoad, postRequest } from "../../support/servers/load.ts";
import { type ServerProcess, startProcess } from "../../support/servers/server.ts";
import { makeFirstKey, temporaryDataDir } from "../../support/store/archived-directory.ts";

const JUDGED = { reports: 400_000, pairs: 10 } as const;
const MODES = ["with", "without"] as const;
type Mode = (typeof MODES)[number];

/** Of a window in which the doctor looks at so much and no more. */
const LONGER_THAN_ATTENTION_MS = 300;

/** What is sent: batches of so many reports, each of another device. */
const KINDS = [
  { name: "batches of 1,000", reports: 1000 },
  { name: "batches of 100", reports: 100 },
] as const;

type Kind = (typeof KINDS)[number];

export const bench: Bench = {
  question: "what the doctor and the last requests cost ingest over HTTP",
  sizes: {
    reports: { help: "that a server is sent in a turn", smoke: 2000, full: JUDGED.reports },
    pairs: { help: "of turns, with the doctor and without", smoke: 1, full: JUDGED.pairs },
    seed: { help: "of the fleet", smoke: 1, full: 1 },
  },
  async run(run) {
    const cores = takeCores();
    try {
      run.note(`${cores.text}; ${CONNECTIONS} connections`);
      for (const kind of KINDS) await measure(run, cores, kind);
    } finally {
      cores.release();
    }
  },
};

interface BenchServer extends ServerProcess {
  readonly key: string;
}

async function measure(run: BenchRun, cores: Cores, kind: Kind): Promise<void> {
  const servers = { with: await start(cores, "with"), without: await start(cores, "without") };
  const turns: Record<Mode, Turn[]> = { with: [], without: [] };
  try {
    const nextBodies = bodiesOf(kind, Math.ceil(run.size("reports") / kind.reports), run.size("seed"));
    for (let pair = -1; pair < run.size("pairs"); pair++) {
      const bodies = nextBodies();
      // Each comes first as often as the other; the first pair warms both up.
      for (const mode of pair % 2 === 0 ? MODES : MODES.toReversed()) {
        const turn = await send(servers[mode], kind, bodies);
        if (pair >= 0) turns[mode].push(turn);
      }
    }
    await expectLastRequests(servers);
  } finally {
    await Promise.all([servers.with.stop(), servers.without.stop()]);
  }
  report(run, kind, turns);
}

async function start(cores: Cores, mode: Mode): Promise<BenchServer> {
  const dataDir = temporaryDataDir("doctor");
  await makeFirstKey(dataDir);
  const key = readFileSync(join(dataDir, "first-key"), "utf8").trim();
  const argv = ["bench/support/servers/doctor-server.ts", dataDir, mode];
  return { ...(await startProcess([...cores.serverLauncher, ...bunForServer(), ...argv])), key };
}

/** Bodies of the next turn, of other instants in each. */
function bodiesOf({ reports }: Kind, count: number, seed: number): () => Uint8Array[] {
  const startMs = Date.now() - 3 * 86_400_000;
  const fleet = createFleet({ devices: reports, seed, startMs, stepMs: 5000 });
  let round = 0;
  const encoder = new TextEncoder();
  return () =>
    Array.from({ length: count }, () => encoder.encode(JSON.stringify({ locations: fleet.round(round++) })));
}

function send(server: BenchServer, { reports }: Kind, bodies: readonly Uint8Array[]): Promise<Turn> {
  const { url, key } = server;
  const headers = { authorization: `Bearer ${key}`, "content-type": "application/json" };
  const requests = bodies.map((body) => postRequest(`${url}/ingest/v1/locations`, headers, body));
  let sent = 0;
  return timed(server, async () => {
    const load = await measureLoad({ url, connections: CONNECTIONS, next: () => requests[sent++] ?? null });
    const { requests: answered, requestsPerSecond } = answeredOf(load);
    return { requests: answered * reports, requestsPerSecond: requestsPerSecond * reports };
  });
}

/** The one must look, and the other not, or the timing means nothing. What comes by itself is never passed over. */
async function expectLastRequests(servers: Readonly<Record<Mode, BenchServer>>): Promise<void> {
  await Bun.sleep(LONGER_THAN_ATTENTION_MS);
  for (const mode of MODES) {
    const { url, key } = servers[mode];
    const headers = { authorization: `Bearer ${key}`, "content-type": "application/json" };
    const body = JSON.stringify({ device_id: "alone", timestamp: Date.now(), latitude: 0, longitude: 1 });
    await fetch(`${url}/ingest/v1/locations`, { method: "POST", headers, body });
    const answer = await fetch(`${url}/api/v1/devices/alone/last-requests`, { headers });
    const { requests } = (await answer.json()) as { requests: readonly unknown[] };
    assert(requests.length === (mode === "with" ? 1 : 0), `it is looked at what comes ${mode} the doctor`);
  }
}

function report(run: BenchRun, { name }: Kind, turns: Readonly<Record<Mode, readonly Turn[]>>): void {
  const isJudged = !run.isSmoke && Object.entries(JUDGED).every(([size, value]) => run.size(size) === value);
  const bound = isJudged ? { atLeast: 0.97 } : undefined;
  const speeds = (mode: Mode): Figure => ({
    name: `${name}: ${mode} the doctor`,
    unit: "reports/s",
    runs: turns[mode].map(({ requestsPerSecond }) => requestsPerSecond),
  });
  run.figures(MODES.map(speeds));
  run.ratio(`${name}: reports/s`, speeds("with"), speeds("without"), bound);
  const costs = MODES.map((mode) => turns[mode].map(({ cpuMicros }) => cpuMicros));
  if (!costs.every((runs): runs is number[] => runs.every((micros) => micros !== null))) return;
  // Steadier than reports a second where somebody else wants the server's core.
  const perSecond = (mode: Mode): Figure => ({
    name: `${name}: processor, ${mode} the doctor`,
    unit: "reports/s",
    runs: costs[MODES.indexOf(mode)]!.map((micros) => 1e6 / micros),
  });
  run.ratio(`${name}: by processor time`, perSecond("with"), perSecond("without"), bound);
}
