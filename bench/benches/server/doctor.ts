import { readFileSync } from "node:fs";
import { join } from "node:path";
import { assert } from "../../../src/lib/assert.ts";
import type { Figure } from "../../support/figures/report.ts";
import { overlandMessage } from "../../support/fleets/client-messages.ts";
import { createFleet, type FullReport } from "../../support/fleets/fleet.ts";
import { type Cores, takeCores } from "../../support/http/cores.ts";
import { readCpuSeconds } from "../../support/peers/cpu.ts";
import type { Bench, BenchRun } from "../../support/run/bench.ts";
import { bunForServer } from "../../support/run/profiling.ts";
import { measureLoad, postRequest } from "../../support/servers/load.ts";
import { type ServerProcess, startProcess } from "../../support/servers/server.ts";
import { makeFirstKey, temporaryDataDir } from "../../support/store/archived-directory.ts";

const JUDGED = { reports: 200_000, pairs: 10 } as const;
const CONNECTIONS = 16;
/** Slices of a pair, so that other load affects both servers. */
const SLICES = 20;
const MODES = ["with", "without"] as const;
type Mode = (typeof MODES)[number];

/** The length of a window for which the doctor's work is limited. */
const LONGER_THAN_ATTENTION_MS = 300;

/** A kind of request, made of a fleet's reports. */
interface Kind {
  readonly name: string;
  readonly path: string;
  /** The number of reports in a request. */
  readonly reports: number;
  readonly devices: number;
  /** Makes the bodies of some requests. */
  bodies(nextRound: () => FullReport[]): unknown[];
}

const oneOfEach = (nextRound: () => FullReport[]) => [{ locations: nextRound() }];
const PHONE_REPORTS = 200;

const KINDS: readonly Kind[] = [
  {
    name: "batches of 1,000",
    path: "/ingest/v1/locations",
    reports: 1000,
    devices: 1000,
    bodies: oneOfEach,
  },
  { name: "batches of 100", path: "/ingest/v1/locations", reports: 100, devices: 100, bodies: oneOfEach },
  {
    name: "Overland, 200",
    path: "/ingest/overland",
    reports: PHONE_REPORTS,
    devices: 50,
    bodies(nextRound) {
      const rounds = Array.from({ length: PHONE_REPORTS }, nextRound);
      return rounds[0]!.map((_, phone) => overlandMessage(rounds.map((round) => round[phone]!)));
    },
  },
];

export const bench: Bench = {
  question: "what the doctor and the last requests cost ingest over HTTP",
  sizes: {
    reports: { help: "that each server is sent in a pair", smoke: 2000, full: JUDGED.reports },
    pairs: { help: "with the doctor and without, by turns", smoke: 1, full: JUDGED.pairs },
    seed: { help: "of the fleet", smoke: 1, full: 1 },
  },
  async run(run) {
    const cores = takeCores();
    try {
      run.note(
        `${cores.text}; ${CONNECTIONS} connections; each pair has servers of its own, and is sent in ${SLICES} slices by turns`,
      );
      for (const kind of KINDS) await measure(run, cores, kind);
    } finally {
      cores.release();
    }
  },
};

interface BenchServer extends ServerProcess {
  readonly key: string;
}

/** Reports a second of each pair: by the clock, and by processor time if the system reports it. */
interface Speeds {
  readonly byClock: number[];
  readonly byProcessor: number[];
}

async function measure(run: BenchRun, cores: Cores, kind: Kind): Promise<void> {
  const speeds: Record<Mode, Speeds> = { with: newSpeeds(), without: newSpeeds() };
  const requests = Math.ceil(run.size("reports") / kind.reports);
  for (let pair = 0; pair < run.size("pairs"); pair++) {
    const nextBodies = bodiesOf(kind, run.size("seed") + pair);
    // Two processes of the same program differ by some percent, constantly.
    const servers = { with: await start(cores, "with"), without: await start(cores, "without") };
    try {
      await sendPair(servers, kind, nextBodies(Math.ceil(requests / 2)), {
        with: newSpeeds(),
        without: newSpeeds(),
      });
      await sendPair(servers, kind, nextBodies(requests), speeds);
      await expectLastRequests(servers);
    } finally {
      await Promise.all([servers.with.stop(), servers.without.stop()]);
    }
  }
  report(run, kind, speeds);
}

function newSpeeds(): Speeds {
  return { byClock: [], byProcessor: [] };
}

async function start(cores: Cores, mode: Mode): Promise<BenchServer> {
  const dataDir = temporaryDataDir("doctor");
  await makeFirstKey(dataDir);
  const key = readFileSync(join(dataDir, "first-key"), "utf8").trim();
  const argv = ["bench/support/servers/doctor-server.ts", dataDir, mode];
  return { ...(await startProcess([...cores.serverLauncher, ...bunForServer(), ...argv])), key };
}

/** Makes `count` bodies, of new instants each time. */
function bodiesOf({ devices, bodies }: Kind, seed: number): (count: number) => Uint8Array[] {
  const startMs = Date.now() - 3 * 86_400_000;
  const fleet = createFleet({ devices, seed, startMs, stepMs: 5000 });
  let round = 0;
  const encoder = new TextEncoder();
  return (count) => {
    const made: Uint8Array[] = [];
    while (made.length < count) {
      for (const body of bodies(() => fleet.round(round++))) made.push(encoder.encode(JSON.stringify(body)));
    }
    return made.slice(0, count);
  };
}

async function sendPair(
  servers: Readonly<Record<Mode, BenchServer>>,
  kind: Kind,
  bodies: readonly Uint8Array[],
  speeds: Readonly<Record<Mode, Speeds>>,
): Promise<void> {
  const cpuBefore = MODES.map((mode) => readCpuSeconds(servers[mode].pid));
  const seconds = { with: 0, without: 0 };
  const slices = Math.min(SLICES, bodies.length);
  for (let slice = 0; slice < slices; slice++) {
    const ofSlice = bodies.filter((_, index) => index % slices === slice);
    // Each mode is first equally often.
    for (const mode of slice % 2 === 0 ? MODES : MODES.toReversed()) {
      seconds[mode] += await send(servers[mode], kind, ofSlice);
    }
  }
  const reports = bodies.length * kind.reports;
  for (const [index, mode] of MODES.entries()) {
    speeds[mode].byClock.push(reports / seconds[mode]);
    const [before, after] = [cpuBefore[index]!, readCpuSeconds(servers[mode].pid)];
    if (before !== null && after !== null && after > before) {
      speeds[mode].byProcessor.push(reports / (after - before));
    }
  }
}

/** Sends each body once; returns the seconds. */
async function send(
  { url, key }: BenchServer,
  { path }: Kind,
  bodies: readonly Uint8Array[],
): Promise<number> {
  const headers = { authorization: `Bearer ${key}`, "content-type": "application/json" };
  const requests = bodies.map((body) => postRequest(url + path, headers, body));
  let sent = 0;
  const { requestsPerSecond } = await measureLoad({
    url,
    connections: CONNECTIONS,
    next: () => requests[sent++] ?? null,
  });
  return bodies.length / requestsPerSecond;
}

/** Checks that one server's doctor works and the other's does not. A single message is always examined. */
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

function report(run: BenchRun, { name }: Kind, speeds: Readonly<Record<Mode, Speeds>>): void {
  const isJudged = !run.isSmoke && Object.entries(JUDGED).every(([size, value]) => run.size(size) === value);
  const bound = isJudged ? { atLeast: 0.97 } : undefined;
  const byClock = (mode: Mode): Figure => {
    return { name: `${name}: ${mode} the doctor`, unit: "reports/s", runs: speeds[mode].byClock };
  };
  run.figures(MODES.map(byClock));
  run.ratio(`${name}: reports/s`, byClock("with"), byClock("without"), bound);
  if (!MODES.every((mode) => speeds[mode].byProcessor.length === run.size("pairs"))) return;
  // Steadier if other processes use the server's core.
  const byProcessor = (mode: Mode): Figure => {
    return { name: `${name}: processor, ${mode}`, unit: "reports/s", runs: speeds[mode].byProcessor };
  };
  run.ratio(`${name}: by processor time`, byProcessor("with"), byProcessor("without"), bound);
}
