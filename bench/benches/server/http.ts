import { cpSync, mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { median } from "../../support/figures/report.ts";
import { drawPoints } from "../../support/fleets/metropolis.ts";
import { checkNearby } from "../../support/http/check-nearby.ts";
import { type City, createCity, writeCity } from "../../support/http/city.ts";
import { type Cores, takeCores } from "../../support/http/cores.ts";
import { drawEndpointQuestions, type EndpointQuestions } from "../../support/http/endpoints.ts";
import { Latencies } from "../../support/http/latency.ts";
import { createMoves, type Moves } from "../../support/http/moves.ts";
import { chooseQuestions, NEARBY_KINDS, type NearbyQuestions } from "../../support/http/nearby-kinds.ts";
import { PairsByName, takePairs, withBareServer } from "../../support/http/pairs.ts";
import { type Sized, sized } from "../../support/http/sized.ts";
import { answeredOf, type Client, CONNECTIONS, chooseClient, timed } from "../../support/http/turn.ts";
import type { Bench, BenchRun } from "../../support/run/bench.ts";
import { bunForServer } from "../../support/run/profiling.ts";
import { forSeconds, measureLoad } from "../../support/servers/load.ts";
import {
  type ServerProcess,
  startProcess,
  startWherehouse,
  type WherehouseProcess,
} from "../../support/servers/server.ts";

/** What the bounds were said of. */
const JUDGED = { devices: 200_000, questions: 2000, launches: 3 } as const;

/** Points drawn for each question: at some of them a page isn't full. */
const POINTS_A_QUESTION = 1.5;
/** Who may be in a reply: those who are found by most questions, and everybody, whose texts don't all fit in memory. */
const REPLIES = [
  { name: "reply without the finding, 100 of 24 h", ageHours: 24 },
  { name: "reply without the finding, 100 of all", ageHours: 8 * 24 },
] as const;
const INGEST = "ingest of 100 reports";
const REPLY_SHARE_MIN = 0.55;
const P99_TIMES_MAX = 3;
const BATCH = 100;
const TRACK_REPORTS = 110; // A full page.

export const bench: Bench = {
  question:
    "answers of a server over HTTP, who is near first of all, against a bare server that sends as many bytes, one core each",
  sizes: {
    devices: { help: "of the metropolis", smoke: 4000, full: JUDGED.devices },
    questions: { help: "different questions of each kind", smoke: 20, full: JUDGED.questions },
    compared: { help: "questions of a kind whose answers are compared before", smoke: 3, full: 20 },
    tracks: { help: "devices with a track, for the questions about days", smoke: 20, full: 1000 },
    launches: { help: "times that all servers start anew", smoke: 1, full: JUDGED.launches },
    nearbyRounds: {
      help: "of a launch for nearby, where there is a bound; 0 leaves it out",
      smoke: 1,
      full: 3,
    },
    replyRounds: { help: "of a launch for replies without the finding, or 0", smoke: 1, full: 3 },
    endpointRounds: { help: "of a launch for each of the other endpoints, or 0", smoke: 1, full: 1 },
    latencyRounds: { help: "of a launch for latencies, or 0", smoke: 1, full: 2 },
    seconds: { help: "that a server is asked in a round", smoke: 0.05, full: 2 },
    warmSeconds: { help: "that a server is asked before", smoke: 0.05, full: 1 },
    latencySeconds: { help: "that latencies are measured in a round", smoke: 0.2, full: 5 },
    reportsPerSecond: { help: "that come in while latencies are measured", smoke: 2000, full: 20_000 },
    seed: { help: "of the metropolis and the points asked from", smoke: 1, full: 1 },
  },
  async run(run) {
    const cores = takeCores();
    try {
      await runAll(run, cores);
    } finally {
      cores.release();
    }
  },
};

/** What all parts share. */
interface Setting {
  readonly run: BenchRun;
  readonly cores: Cores;
  readonly city: City;
  /** Filled with the city; each launch begins with a copy. */
  readonly dataDir: string;
  readonly ask: Client;
  readonly pairs: PairsByName;
  readonly latencies: Latencies;
}

/** What is asked in all launches; the first one shows that the answers are right. */
interface Plan {
  readonly nearby: readonly NearbyQuestions[];
  readonly endpoints: readonly EndpointQuestions[];
}

async function runAll(run: BenchRun, cores: Cores): Promise<void> {
  const client = chooseClient(Object.values(secondsOf(run)));
  run.note(`${cores.text}; ${client.text}`);
  const city = createCity({
    devices: run.size("devices"),
    seed: run.size("seed"),
    nowMs: Date.now(),
    tracks: run.size("tracks"),
    trackReports: TRACK_REPORTS,
  });
  const dataDir = await writeCity(city);
  const [pairs, latencies] = [new PairsByName(), new Latencies()];
  const setting: Setting = { run, cores, city, dataDir, ask: client.ask, pairs, latencies };
  let plan: Plan | null = null;
  for (let launch = 0; launch < run.size("launches"); launch++) {
    const server = await startWherehouse(copyOf(dataDir), cores.serverLauncher);
    try {
      plan ??= await makePlan(setting, server);
      await measureLaunch(setting, server, plan);
    } finally {
      await server.stop();
    }
  }
  const isJudged = !run.isSmoke && Object.entries(JUDGED).every(([name, size]) => run.size(name) === size);
  reportAll(setting, plan!, { isJudged, isWrk: client.isWrk });
}

/** Reports come in last: nothing before is to find devices elsewhere than at the start. */
async function measureLaunch(setting: Setting, server: WherehouseProcess, plan: Plan): Promise<void> {
  const { run } = setting;
  const [best100] = plan.nearby;
  for (const questions of plan.nearby) {
    // Kinds without a bound get one round.
    const { name, shareMin } = questions.kind;
    const rounds = Math.min(run.size("nearbyRounds"), shareMin === undefined ? 1 : Number.POSITIVE_INFINITY);
    await measurePairs(setting, server, { name, questions, rounds });
  }
  for (const { name, ageHours } of REPLIES) await measureReply(setting, best100!, name, ageHours);
  for (const questions of plan.endpoints) {
    await measurePairs(setting, server, {
      name: questions.name,
      questions,
      rounds: run.size("endpointRounds"),
    });
  }
  await measureLatencies(setting, server, best100!);
  await measureIngest(setting, server);
}

async function makePlan({ run, city }: Setting, { url, key }: WherehouseProcess): Promise<Plan> {
  const [count, seed] = [run.size("questions"), run.size("seed")];
  const headers = { authorization: `Bearer ${key}` };
  const points = drawPoints(Math.ceil(count * POINTS_A_QUESTION), seed + 1);
  const nearby: NearbyQuestions[] = [];
  for (const kind of NEARBY_KINDS) {
    const questions = await chooseQuestions({ url, headers, kind, points, count, seed });
    const compared = await checkNearby(url, city.metropolis, questions, run.size("compared"));
    run.note(
      `${kind.name}: ${wholeText(questions.asked.length)} questions, median answer ${wholeText(questions.answerBytes)} bytes; ` +
        `${wholeText(questions.leftOut)} points left out, where no page is full; ${compared} answers are those of a linear scan`,
    );
    nearby.push(questions);
  }
  const endpoints = await drawEndpointQuestions({ url, headers, city, count, seed });
  return { nearby, endpoints };
}

interface PairsOptions {
  readonly name: string;
  readonly questions: Sized;
  readonly rounds: number;
}

/** Asks a server and one that sends as many bytes. */
async function measurePairs(
  { run, cores, ask, pairs }: Setting,
  server: ServerProcess,
  { name, questions, rounds }: PairsOptions,
): Promise<void> {
  if (rounds === 0) return;
  await withBareServer({ bytes: questions.answerBytes }, cores.serverLauncher, (bare) =>
    takePairs(pairs.of(name), rounds, secondsOf(run), (whom, seconds) =>
      ask(whom === "ours" ? server : bare, questions, seconds),
    ),
  );
}

async function measureReply(
  setting: Setting,
  questions: NearbyQuestions,
  name: string,
  ageHours: number,
): Promise<void> {
  const { run, cores, dataDir } = setting;
  const rounds = run.size("replyRounds");
  if (rounds === 0) return;
  const copy = copyOf(dataDir);
  const server = await startProcess([
    ...cores.serverLauncher,
    ...bunForServer(),
    "bench/support/http/reply-server.ts",
    copy,
    String(ageHours),
  ]);
  try {
    await measurePairs(setting, server, {
      name,
      questions: await sized(server.url, questions),
      rounds,
    });
  } finally {
    await server.stop();
    rmSync(copy, { recursive: true });
  }
}

/** At half of what the server was measured to answer in this launch. */
async function measureLatencies(
  { run, cores, city, pairs, latencies }: Setting,
  server: WherehouseProcess,
  questions: NearbyQuestions,
): Promise<void> {
  const [rounds, nearbyRounds] = [run.size("latencyRounds"), run.size("nearbyRounds")];
  if (rounds === 0 || nearbyRounds === 0) return;
  const peaks = pairs.of(questions.kind.name).ours.slice(-nearbyRounds);
  const requestsPerSecond = median(peaks.map((turn) => turn.requestsPerSecond)) / 2;
  const moves = movesOf(city, server.url, server.key, run.size("seed"));
  await withBareServer({ bytes: questions.answerBytes }, cores.serverLauncher, async (bare) => {
    const options = {
      ...{ server, bare, questions, moves, requestsPerSecond },
      batchesPerSecond: run.size("reportsPerSecond") / BATCH,
    };
    await new Latencies().addRound({ ...options, seconds: run.size("warmSeconds") });
    for (let round = 0; round < rounds; round++) {
      await latencies.addRound({ ...options, seconds: run.size("latencySeconds") });
    }
  });
  run.note(`latencies are of ${wholeText(requestsPerSecond)} requests/s, half of this launch's peak`);
}

/** wrk would have to hold all bodies; a request that takes this long doesn't need it. */
async function measureIngest({ run, cores, city, pairs }: Setting, server: WherehouseProcess): Promise<void> {
  const rounds = run.size("endpointRounds");
  if (rounds === 0) return;
  await withBareServer("parse", cores.serverLauncher, async (bare) => {
    const servers = { ours: server, control: bare };
    const seed = run.size("seed");
    const moves = {
      ours: movesOf(city, server.url, server.key, seed),
      control: movesOf(city, bare.url, server.key, seed),
    };
    await takePairs(pairs.of(INGEST), rounds, secondsOf(run), (whom, seconds) =>
      timed(servers[whom], async () => {
        const next = forSeconds(seconds, () => moves[whom].next(Date.now()));
        return answeredOf(await measureLoad({ url: servers[whom].url, connections: CONNECTIONS, next }));
      }),
    );
  });
}

/** Of devices that are heard of: were others to move, more of them would be near anybody than before. */
function movesOf({ metropolis, live }: City, url: string, key: string, seed: number): Moves {
  return createMoves({ url, key, metropolis, devices: live, batchSize: BATCH, seed });
}

interface Judgement {
  readonly isJudged: boolean;
  /** A client that limits the control would flatter ours. */
  readonly isWrk: boolean;
}

function reportAll({ run, pairs, latencies }: Setting, plan: Plan, { isJudged, isWrk }: Judgement): void {
  const shareOf = (atLeast: number | undefined) =>
    isJudged && isWrk && atLeast !== undefined ? { atLeast } : undefined;
  for (const { name, shareMin } of NEARBY_KINDS) pairs.report(run, name, shareOf(shareMin));
  for (const { name } of REPLIES) pairs.report(run, name, shareOf(REPLY_SHARE_MIN));
  for (const { name } of plan.endpoints) pairs.report(run, name);
  pairs.report(run, INGEST);
  pairs.reportWaits(run);
  latencies.report(run, isJudged ? { atMost: P99_TIMES_MAX } : undefined);
}

function secondsOf(run: BenchRun) {
  return { warm: run.size("warmSeconds"), turn: run.size("seconds") };
}

/** A launch begins with the same directory as all others. */
function copyOf(dataDir: string): string {
  const copy = mkdtempSync(join(tmpdir(), "wherehouse-bench-"));
  cpSync(dataDir, copy, { recursive: true });
  return copy;
}

function wholeText(value: number): string {
  return Math.round(value).toLocaleString("en");
}
