import { cpSync, mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { assert } from "../../../src/lib/assert.ts";
import type { Figure } from "../../support/figures/report.ts";
import { drawPoints } from "../../support/fleets/metropolis.ts";
import { createCity, writeCity } from "../../support/http/city.ts";
import { type Cores, takeCores } from "../../support/http/cores.ts";
import { chooseQuestions, NEARBY_KINDS, type NearbyQuestions } from "../../support/http/nearby-kinds.ts";
import { chooseClient, type Turn } from "../../support/http/turn.ts";
import type { Bench, BenchRun } from "../../support/run/bench.ts";
import { bunForServer } from "../../support/run/profiling.ts";
import { openHttpClient } from "../../support/servers/http-client.ts";
import { getRequest } from "../../support/servers/load.ts";
import { type ServerProcess, startProcess } from "../../support/servers/server.ts";

const JUDGED = { devices: 200_000, questions: 1000, rounds: 9 } as const;
const POINTS_A_QUESTION = 1.5;
/** The best 100 within 5 miles, and a short answer, in which any cost is more visible. */
const KINDS = NEARBY_KINDS.slice(0, 2);
const MODES = ["bare", "counted", "told"] as const;
type Mode = (typeof MODES)[number];

export const bench: Bench = {
  question: "what counting requests costs nearby, and what a line of the log for each would",
  sizes: {
    devices: { help: "of the metropolis", smoke: 2000, full: JUDGED.devices },
    questions: { help: "different questions of each kind", smoke: 20, full: JUDGED.questions },
    rounds: { help: "of all servers in turns", smoke: 1, full: JUDGED.rounds },
    seconds: { help: "that a server is asked in a round", smoke: 0.05, full: 2 },
    seed: { help: "of the metropolis and the points asked from", smoke: 1, full: 1 },
  },
  async run(run) {
    const cores = takeCores();
    try {
      await runOn(cores, run);
    } finally {
      cores.release();
    }
  },
};

async function runOn(cores: Cores, run: BenchRun): Promise<void> {
  const [seed, seconds] = [run.size("seed"), run.size("seconds")];
  const client = chooseClient([seconds]);
  run.note(`${cores.text}; ${client.text}`);
  const city = createCity({
    devices: run.size("devices"),
    seed,
    nowMs: Date.now(),
    tracks: 0,
    trackReports: 0,
  });
  const dataDir = await writeCity(city);
  const headers = { authorization: `Bearer ${readFileSync(join(dataDir, "first-key"), "utf8").trim()}` };
  const servers = new Map<Mode, ServerProcess>();
  const copies: string[] = [];
  try {
    for (const mode of MODES) {
      const copy = mkdtempSync(join(tmpdir(), "wherehouse-metering-"));
      copies.push(copy);
      cpSync(dataDir, copy, { recursive: true });
      const argv = ["bench/support/http/metered-server.ts", copy, mode];
      servers.set(mode, await startProcess([...cores.serverLauncher, ...bunForServer(), ...argv]));
    }
    const count = run.size("questions");
    const points = drawPoints(Math.ceil(count * POINTS_A_QUESTION), seed + 1);
    for (const kind of KINDS) {
      const { url } = servers.get("bare")!;
      const questions = await chooseQuestions({ url, headers, kind, points, count, seed });
      await expectSameAnswers(servers, questions);
      const turns = new Map<Mode, Turn[]>(MODES.map((mode) => [mode, []]));
      for (let round = -1; round < run.size("rounds"); round++) {
        // Each mode is first equally often: the first one finds colder caches.
        for (let at = 0; at < MODES.length; at++) {
          const mode = MODES[(at + round + MODES.length) % MODES.length]!;
          const turn = await client.ask(servers.get(mode)!, questions, seconds);
          if (round >= 0) turns.get(mode)!.push(turn);
        }
      }
      report(run, kind.name, turns);
    }
  } finally {
    for (const server of servers.values()) await server.stop();
    for (const copy of copies) rmSync(copy, { recursive: true });
  }
}

async function expectSameAnswers(
  servers: ReadonlyMap<Mode, ServerProcess>,
  { paths, headers }: NearbyQuestions,
): Promise<void> {
  const answers = new Set<string>();
  for (const { url } of servers.values()) {
    const client = await openHttpClient(url);
    const body = (await client.ask(getRequest(url + paths[0]!, headers))).toString();
    client.close();
    answers.add(body.replace(/"query_time_ms":[\d.]+/, ""));
  }
  assert(answers.size === 1, "servers that count and servers that don't answer alike");
}

function report(run: BenchRun, name: string, turns: ReadonlyMap<Mode, readonly Turn[]>): void {
  const isJudged = !run.isSmoke && Object.entries(JUDGED).every(([size, value]) => run.size(size) === value);
  const speeds = (mode: Mode): Figure => ({
    name: `${name}: ${mode}`,
    unit: "requests/s",
    runs: turns.get(mode)!.map(({ requestsPerSecond }) => requestsPerSecond),
  });
  run.figures(MODES.map(speeds));
  const bound = isJudged ? { atLeast: 0.97 } : undefined;
  run.ratio(`${name}: requests/s, counted`, speeds("counted"), speeds("bare"), bound);
  run.ratio(`${name}: requests/s, told`, speeds("told"), speeds("bare"));
  const costs = MODES.map((mode) => turns.get(mode)!.map(({ cpuMicros }) => cpuMicros));
  if (!costs.every((runs): runs is number[] => runs.every((micros) => micros !== null))) return;
  // Steadier than requests a second if other processes use the server's core.
  const perSecond = (mode: Mode): Figure => ({
    name: `${name}: processor, ${mode}`,
    unit: "requests/s",
    runs: costs[MODES.indexOf(mode)]!.map((micros) => 1e6 / micros),
  });
  run.ratio(`${name}: by processor time, counted`, perSecond("counted"), perSecond("bare"));
  run.ratio(`${name}: by processor time, told`, perSecond("told"), perSecond("bare"));
}
