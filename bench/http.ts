import { cpSync, mkdtempSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { Bench, BenchRun } from "./support/bench.ts";
import { checkNearby } from "./support/http/check-nearby.ts";
import { type City, createCity, writeCity } from "./support/http/city.ts";
import { type Cores, takeCores } from "./support/http/cores.ts";
import {
  chooseQuestions,
  NEARBY_KINDS,
  type NearbyQuestions,
  type Sized,
} from "./support/http/nearby-kinds.ts";
import { PairsByName, takePairs, withBareBytes } from "./support/http/pair.ts";
import { type Client, chooseClient } from "./support/http/turn.ts";
import { drawPoints } from "./support/metropolis.ts";
import { readable } from "./support/report.ts";
import { type ServerProcess, startWherehouse, type WherehouseProcess } from "./support/server.ts";

/** What the bounds were said of. */
const JUDGED = { devices: 200_000, questions: 2000, launches: 3 } as const;

/** Points drawn for each question: at some of them a page isn't full. */
const POINTS_A_QUESTION = 1.5;
const CONTROL = "bare, as many bytes";

export const bench: Bench = {
  question:
    "answers of a server over HTTP, who is near first of all, against a bare server that sends as many bytes, one core each",
  sizes: {
    devices: { help: "of the metropolis", smoke: 4000, full: JUDGED.devices },
    questions: { help: "different questions of each kind", smoke: 20, full: JUDGED.questions },
    compared: { help: "questions of a kind whose answers are compared before", smoke: 3, full: 20 },
    launches: { help: "times that all servers start anew", smoke: 1, full: JUDGED.launches },
    nearbyRounds: {
      help: "a launch for kinds of nearby with a bound; 0 leaves nearby out",
      smoke: 1,
      full: 3,
    },
    seconds: { help: "that a server is asked in a round", smoke: 0.05, full: 2 },
    warmSeconds: { help: "that a server is asked before", smoke: 0.05, full: 1 },
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
  readonly ask: Client;
  readonly pairs: PairsByName;
}

async function runAll(run: BenchRun, cores: Cores): Promise<void> {
  const client = chooseClient(run.size("seconds"));
  run.note(`${cores.text}; ${client.text}`);
  const city = createCity({
    devices: run.size("devices"),
    seed: run.size("seed"),
    nowMs: Date.now(),
    tracks: 100,
    trackReports: 110,
  });
  const dataDir = await writeCity(city);
  const setting: Setting = { run, cores, city, ask: client.ask, pairs: new PairsByName() };
  let nearby: readonly NearbyQuestions[] = [];
  for (let launch = 0; launch < run.size("launches"); launch++) {
    const server = await startWherehouse(copyOf(dataDir), cores.serverLauncher);
    try {
      // Questions are the same in all launches: the first one shows that they are answered rightly.
      if (launch === 0) nearby = await prepareNearby(setting, server);
      for (const questions of nearby) await measureNearby(setting, server, questions);
    } finally {
      await server.stop();
    }
  }
  const isJudged = client.isWrk && isAsJudged(run);
  for (const { name, shareMin } of NEARBY_KINDS) {
    const isBound = isJudged && shareMin !== undefined;
    setting.pairs.report(run, name, CONTROL, isBound ? { atLeast: shareMin } : undefined);
  }
}

function isAsJudged(run: BenchRun): boolean {
  return !run.isSmoke && Object.entries(JUDGED).every(([name, size]) => run.size(name) === size);
}

/** A launch begins with the same directory as all others; it goes with its server. */
function copyOf(dataDir: string): string {
  const copy = mkdtempSync(join(tmpdir(), "wherehouse-bench-"));
  cpSync(dataDir, copy, { recursive: true });
  return copy;
}

async function prepareNearby({ run, city }: Setting, server: WherehouseProcess): Promise<NearbyQuestions[]> {
  const { url, key } = server;
  const headers = { authorization: `Bearer ${key}` };
  const count = run.size("questions");
  const points = drawPoints(Math.ceil(count * POINTS_A_QUESTION), run.size("seed") + 1);
  const all: NearbyQuestions[] = [];
  if (run.size("nearbyRounds") === 0) return all;
  for (const kind of NEARBY_KINDS) {
    const questions = await chooseQuestions({ url, headers, kind, points, count, seed: run.size("seed") });
    const compared = await checkNearby(url, city.metropolis, questions, run.size("compared"));
    const { asked, leftOut, answerBytes } = questions;
    run.note(
      `${kind.name}: ${asked.length.toLocaleString("en")} questions, median answer ${readable(answerBytes)} bytes; ` +
        `${leftOut.toLocaleString("en")} points left out, where no page is full; ${compared} answers are those of a linear scan`,
    );
    all.push(questions);
  }
  return all;
}

/** Kinds without a bound get one round. */
async function measureNearby(setting: Setting, server: ServerProcess, questions: NearbyQuestions) {
  const { name, shareMin } = questions.kind;
  const rounds = shareMin === undefined ? 1 : setting.run.size("nearbyRounds");
  await measurePairs(setting, server, name, questions, rounds);
}

async function measurePairs(
  { run, cores, ask, pairs }: Setting,
  server: ServerProcess,
  name: string,
  questions: Sized,
  rounds: number,
): Promise<void> {
  const seconds = { warm: run.size("warmSeconds"), turn: run.size("seconds") };
  await withBareBytes(questions.answerBytes, cores.serverLauncher, (bare) =>
    takePairs(pairs.of(name), rounds, seconds, (whom, forSeconds) =>
      ask(whom === "ours" ? server : bare, questions, forSeconds),
    ),
  );
}
