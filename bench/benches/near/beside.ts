import type { Interference, InterferenceOptions } from "../../support/beside/interference.ts";
import { launch } from "../../support/beside/launch.ts";
import type { Figure } from "../../support/figures/report.ts";
import type { Bench } from "../../support/run/bench.ts";

/** The sizes for which the bound was set. */
const JUDGED = {
  devices: 200_000,
  reportsPerSecond: 20_000,
  questionsPerSecond: 3000,
  batchSize: 100,
} as const;
const TIMES_ALONE_MAX = 1.3;

export const bench: Bench = {
  question: "how much do batches of reports slow down nearby queries, found and encoded in process?",
  sizes: {
    devices: {
      help: "of the metropolis; those heard of in the last day move",
      smoke: 4000,
      full: JUDGED.devices,
    },
    questions: { help: "different ones: 5 miles, best 100", smoke: 50, full: 2000 },
    reportsPerSecond: { help: "that would come in", smoke: 20_000, full: JUDGED.reportsPerSecond },
    questionsPerSecond: {
      help: "that would be asked beside them",
      smoke: 3000,
      full: JUDGED.questionsPerSecond,
    },
    batchSize: { help: "reports of a batch", smoke: 100, full: JUDGED.batchSize },
    batches: { help: "of a slice beside reports", smoke: 10, full: 300 },
    rounds: { help: "of a launch, each with a slice alone and one beside reports", smoke: 2, full: 5 },
    launches: { help: "processes, one after the other", smoke: 1, full: 3 },
    compared: { help: "answers a round that are compared with those of a new store", smoke: 5, full: 50 },
    seed: { help: "of the metropolis, the points asked from, and moves", smoke: 1, full: 1 },
  },
  async run(run) {
    const size = (name: keyof InterferenceOptions) => run.size(name);
    const launches: Interference[] = [];
    for (let index = 0; index < run.size("launches"); index++) {
      launches.push(
        await launch({
          devices: size("devices"),
          questions: size("questions"),
          rounds: size("rounds"),
          batches: size("batches"),
          batchSize: size("batchSize"),
          reportsPerSecond: size("reportsPerSecond"),
          questionsPerSecond: size("questionsPerSecond"),
          compared: size("compared"),
          seed: size("seed"),
        }),
      );
    }
    const compared = launches.reduce((sum, launched) => sum + launched.compared, 0);
    run.note(
      `${launches[0]!.movingDevices.toLocaleString("en")} devices move; ${compared} answers are those of a store that encodes everything anew`,
    );
    const figure = (name: string, unit: string, value: (launched: Interference) => number): Figure => ({
      name,
      unit,
      runs: launches.map(value),
    });
    const reportsAQuestion = run.size("reportsPerSecond") / run.size("questionsPerSecond");
    const alone = figure("a question alone", "µs", ({ aloneMicros }) => aloneMicros);
    const beside = figure("a question beside reports", "µs", ({ besideMicros }) => besideMicros);
    const lost = figure(
      "what a report takes from questions",
      "µs",
      ({ aloneMicros, besideMicros }) => (besideMicros - aloneMicros) / reportsAQuestion,
    );
    const apply = figure("laying a report over the store", "µs", ({ applyMicros }) => applyMicros);
    run.figures([alone, beside, lost, apply]);
    const isJudged =
      !run.isSmoke && Object.entries(JUDGED).every(([name, value]) => run.size(name) === value);
    run.ratio(
      "a question beside reports, times alone",
      beside,
      alone,
      isJudged ? { atMost: TIMES_ALONE_MAX } : undefined,
    );
  },
};
