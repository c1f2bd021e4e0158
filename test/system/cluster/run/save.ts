import { type Results, saveResults } from "../../../../bench/support/figures/results.ts";
import { readMachine } from "../../../../bench/support/run/machine.ts";
import type { ClusterRun } from "./cluster-run.ts";
import { FAULTS, type FaultKind, LAST_FAULTS } from "./faults.ts";
import type { RoundResult } from "./round.ts";
import { medianOf } from "./summary.ts";

const MS_PER_SECOND = 1000;

/** What is wanted of the time without acks when the leader dies. */
const MEDIAN_SECONDS_MAX = 8;
const WORST_SECONDS_MAX = 15;

const LEADER_DIES: readonly FaultKind[] = ["leader killed", "leader and node killed"];
const NODE_DIES: readonly FaultKind[] = ["node killed", "leader and node killed"];

/** Keeps the figures of a run, as benches do. */
export function saveRun(path: string, run: ClusterRun): void {
  saveResults(path, resultsOf(run), new Map());
}

function resultsOf({ seed, rounds, imported, days, faults }: ClusterRun): Results {
  const of = (kinds: readonly FaultKind[]) => rounds.filter(({ kind }) => kinds.includes(kind));
  const sum = (from: readonly RoundResult[], value: (result: RoundResult) => number) =>
    from.reduce((total, result) => total + value(result), 0);
  const silences = of(LEADER_DIES)
    .map(({ silenceMs }) => silenceMs / MS_PER_SECOND)
    .sort((a, b) => a - b);
  const failed = ({ failedQuestions }: RoundResult) => failedQuestions;
  const notes = [
    `${rounds.length} rounds; ${sum(rounds, ({ batches }) => batches)} batches, ${sum(rounds, ({ questions }) => questions)} questions`,
    ...[...FAULTS, ...LAST_FAULTS].flatMap((kind) => {
      if (of([kind]).length === 0) return [];
      const questions = `${sum(of([kind]), failed)} of ${sum(of([kind]), (round) => round.questions)} questions failed`;
      return [`${kind}: ${of([kind]).length} rounds, ${questions}`];
    }),
    ...faults.map((fault) => `wrong: ${fault}`),
  ];
  return {
    bench: "cluster-rounds",
    question: "what is lost when servers, nodes and clients of a cluster are killed, stopped and cut off?",
    date: new Date().toISOString(),
    isSmoke: false,
    machine: readMachine(),
    sizes: { rounds: rounds.length, seed, imported, days: days.length },
    figures: [...FAULTS, ...LAST_FAULTS].flatMap((kind) => {
      const runs = of([kind]).map(({ silenceMs }) => silenceMs / MS_PER_SECOND);
      return runs.length === 0 ? [] : [{ name: `without acks: ${kind}`, unit: "s", runs }];
    }),
    ratios: [],
    verdicts: [
      { name: "reports acknowledged", value: sum(rounds, ({ acknowledged }) => acknowledged), unit: "" },
      atMost(
        "lost",
        sum(rounds, ({ lost }) => lost),
        "",
        0,
      ),
      atMost(
        "twice",
        sum(rounds, ({ twice }) => twice),
        "",
        0,
      ),
      atMost("other faults that the checker found", faults.length, "", 0),
      atMost("days that differ between nodes", days.filter(({ isSame }) => !isSame).length, "", 0),
      atMost("questions that failed at two nodes while a node died", sum(of(NODE_DIES), failed), "", 0),
      ...(silences.length === 0
        ? []
        : [
            atMost("without acks when the leader dies, median", medianOf(silences), "s", MEDIAN_SECONDS_MAX),
            atMost("without acks when the leader dies, worst", silences.at(-1)!, "s", WORST_SECONDS_MAX),
          ]),
    ],
    notes,
  };
}

function atMost(name: string, value: number, unit: string, most: number) {
  return { name, value, unit, bound: { atMost: most }, isReached: value <= most };
}
