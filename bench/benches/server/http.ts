import { drawPoints, type Metropolis } from "../../support/fleets/metropolis.ts";
import { checkNearby } from "../../support/http/checks/nearby.ts";
import { type CityOptions, createCity, writeCity } from "../../support/http/city.ts";
import { type Cores, takeCores } from "../../support/http/cores.ts";
import { chooseQuestions, NEARBY_KINDS, type NearbyQuestions } from "../../support/http/nearby-kinds.ts";
import { PairsByName } from "../../support/http/pairs.ts";
import { EndpointsPart } from "../../support/http/parts/endpoints.ts";
import { IngestPart } from "../../support/http/parts/ingest.ts";
import { LatencyPart } from "../../support/http/parts/latency.ts";
import { NearbyPart } from "../../support/http/parts/nearby.ts";
import {
  copyOf,
  type NearbyOfKinds,
  type Part,
  type Setting,
  secondsOf,
  wholeText,
} from "../../support/http/parts/part.ts";
import { RepliesPart } from "../../support/http/parts/replies.ts";
import { ReportCostPart } from "../../support/http/parts/report-cost.ts";
import { chooseClient } from "../../support/http/turn.ts";
import type { Bench, BenchRun } from "../../support/run/bench.ts";
import { startWherehouse, type WherehouseProcess } from "../../support/servers/server.ts";

/** The sizes for which the bounds were set. */
const JUDGED = {
  devices: 200_000,
  questions: 2000,
  launches: 3,
  questionsPerSecond: 4000,
  reportsPerSecond: 20_000,
} as const;

/** Points drawn per query, since some don't have a full page. */
const POINTS_A_QUESTION = 1.5;
const TRACK_REPORTS = 110; // A full page.

/** The parts in order. Reports come last, since they move the devices. */
const PARTS: Readonly<Record<string, () => Part>> = {
  nearby: () => new NearbyPart(),
  replies: () => new RepliesPart(),
  endpoints: () => new EndpointsPart(),
  latency: () => new LatencyPart(),
  "report-cost": () => new ReportCostPart(),
  ingest: () => new IngestPart(),
};

export const bench: Bench = {
  question:
    "answers of a server over HTTP, who is near first of all, against a bare server that sends as many bytes, one core each",
  sizes: {
    devices: { help: "of the metropolis", smoke: 4000, full: JUDGED.devices },
    questions: { help: "different questions of each kind", smoke: 20, full: JUDGED.questions },
    compared: { help: "questions of a kind whose answers are compared before", smoke: 3, full: 20 },
    tracks: { help: "devices with a track, for the questions about days", smoke: 20, full: 1000 },
    launches: { help: "times that all servers start anew", smoke: 1, full: JUDGED.launches },
    nearbyRounds: { help: "of a launch for nearby, where there is a bound", smoke: 1, full: 3 },
    replyRounds: { help: "of a launch for replies without the finding", smoke: 1, full: 3 },
    endpointRounds: { help: "of a launch for each of the other endpoints", smoke: 1, full: 1 },
    latencyRounds: { help: "of a launch for latencies, each a slice of each kind", smoke: 1, full: 10 },
    reportCostRounds: { help: "of a launch for what a report costs", smoke: 1, full: 2 },
    seconds: { help: "that a server is asked in a round", smoke: 0.05, full: 2 },
    warmSeconds: { help: "that a server is asked before", smoke: 0.05, full: 1 },
    latencySeconds: { help: "of a slice at a steady rate", smoke: 0.2, full: 4 },
    questionsPerSecond: {
      help: "of latencies, if that is at most half of the peak",
      smoke: 500,
      full: JUDGED.questionsPerSecond,
    },
    reportsPerSecond: { help: "beside questions", smoke: 2000, full: JUDGED.reportsPerSecond },
    seed: { help: "of the metropolis and the points asked from", smoke: 1, full: 1 },
  },
  choices: { part: { help: "a part alone; may be given again for another", values: Object.keys(PARTS) } },
  async run(run) {
    const cores = takeCores();
    try {
      await runParts(run, cores);
    } finally {
      cores.release();
    }
  },
};

async function runParts(run: BenchRun, cores: Cores): Promise<void> {
  const client = chooseClient(Object.values(secondsOf(run)));
  run.note(`${cores.text}; ${client.text}`);
  const cityOptions: CityOptions = {
    devices: run.size("devices"),
    seed: run.size("seed"),
    nowMs: Date.now(),
    tracks: run.size("tracks"),
    trackReports: TRACK_REPORTS,
  };
  const city = createCity(cityOptions);
  const setting: Setting = {
    ...{ run, cores, cityOptions, city },
    dataDir: await writeCity(city),
    ask: client.ask,
    pairs: new PairsByName(),
    nearby: chooseOnce(run, city.metropolis),
  };
  const parts = run.chosen("part").map((name) => PARTS[name]!());
  for (let launch = 0; launch < run.size("launches"); launch++) {
    const server = await startWherehouse(copyOf(setting.dataDir), cores.serverLauncher);
    try {
      for (const part of parts) await part.measure(setting, server);
    } finally {
      await server.stop();
    }
  }
  const isJudged = !run.isSmoke && Object.entries(JUDGED).every(([name, size]) => run.size(name) === size);
  for (const part of parts) part.report(setting, { isJudged, areSharesJudged: isJudged && client.isWrk });
  setting.pairs.reportWaits(run);
}

/** The first launch with a kind of query also checks its answers. */
function chooseOnce(run: BenchRun, metropolis: Metropolis): NearbyOfKinds {
  const chosen = new Map<string, NearbyQuestions>();
  const [count, seed] = [run.size("questions"), run.size("seed")];
  const points = drawPoints(Math.ceil(count * POINTS_A_QUESTION), seed + 1);

  async function choose(kindName: string, { url, key }: WherehouseProcess): Promise<NearbyQuestions> {
    const headers = { authorization: `Bearer ${key}` };
    const kind = NEARBY_KINDS.find(({ name }) => name === kindName)!;
    const questions = await chooseQuestions({ url, headers, kind, points, count, seed });
    const compared = await checkNearby(url, metropolis, questions, run.size("compared"));
    run.note(
      `${kind.name}: ${wholeText(questions.asked.length)} questions, median answer ${wholeText(questions.answerBytes)} bytes; ` +
        `${wholeText(questions.leftOut)} points skipped, since their page is not full; ${compared} answers are those of a linear scan`,
    );
    return questions;
  }

  return {
    async of(kindName, server) {
      const questions = chosen.get(kindName) ?? (await choose(kindName, server));
      chosen.set(kindName, questions);
      return questions;
    },
  };
}
