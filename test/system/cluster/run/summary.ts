import { formatTable } from "../../../../src/cli/screen/layout.ts";
import type { ClusterRun } from "./cluster-run.ts";
import { FAULTS, LAST_FAULTS } from "./faults.ts";
import type { RoundResult } from "./round.ts";

const MS_PER_SECOND = 1000;

/** Nothing acknowledged is missing, doubled or answered wrongly. */
export function isGood({ faults }: ClusterRun): boolean {
  return faults.length === 0;
}

export function summaryText(run: ClusterRun): string {
  const { rounds, imported, days, faults, kept } = run;
  const total = (value: (result: RoundResult) => number) =>
    rounds.reduce((sum, each) => sum + value(each), 0);
  const nodes = Math.max(0, ...rounds.map(({ found }) => found.length));
  const facts: [string, string][] = [
    ["records of the sample", imported.toLocaleString("en")],
    ["reports acknowledged", total(({ acknowledged }) => acknowledged).toLocaleString("en")],
    ...Array.from({ length: nodes }, (_, node): [string, string] => {
      const since = rounds.filter(({ found }) => found.length > node);
      const of = since.reduce((sum, { acknowledged }) => sum + acknowledged, 0);
      const joined = since.length < rounds.length ? ` of ${of.toLocaleString("en")} since it joined` : "";
      return [
        `  found on node ${node + 1}`,
        total(({ found }) => found[node] ?? 0).toLocaleString("en") + joined,
      ];
    }),
    ["  lost", String(total(({ lost }) => lost))],
    ["  twice", String(total(({ twice }) => twice))],
    [
      "batches refused or without an answer, and sent again",
      total(({ refused }) => refused).toLocaleString("en"),
    ],
    ["questions asked", total(({ questions }) => questions).toLocaleString("en")],
    ["  answered by neither of two nodes", String(total(({ failedQuestions }) => failedQuestions))],
    [
      "longest time in which nothing was acknowledged",
      seconds(Math.max(0, ...rounds.map(({ silenceMs }) => silenceMs))),
    ],
    [
      "days with the same SHA-256 on all nodes",
      `${days.filter(({ isSame }) => isSame).length} of ${days.length}`,
    ],
  ];
  const lines = [formatTable(["what", "found"], facts)];
  if (rounds.length > 1) lines.push(kindsTable(rounds));
  lines.push(...faults.map((fault) => `wrong: ${fault}\n`));
  lines.push(isGood(run) ? "Nothing is missing.\n" : "Something is wrong.\n");
  lines.push(...kept.map((directory) => `kept: ${directory}\n`));
  return lines.join("");
}

/** By what went wrong: how long nothing was acknowledged, and which questions failed. */
function kindsTable(rounds: readonly RoundResult[]): string {
  const rows = [...FAULTS, ...LAST_FAULTS].flatMap((kind) => {
    const of = rounds.filter((round) => round.kind === kind);
    if (of.length === 0) return [];
    const silences = of.map(({ silenceMs }) => silenceMs).sort((a, b) => a - b);
    const failed = of.reduce((sum, { failedQuestions }) => sum + failedQuestions, 0);
    return [
      [kind, String(of.length), seconds(medianOf(silences)), seconds(silences.at(-1)!), String(failed)],
    ];
  });
  return formatTable(
    ["what went wrong", ">rounds", ">nothing acknowledged, median", ">worst", ">failed questions"],
    rows,
  );
}

export function medianOf(sorted: readonly number[]): number {
  const middle = sorted.length / 2;
  return (sorted[Math.floor(middle - 0.5)]! + sorted[Math.floor(middle)]!) / 2;
}

export function seconds(ms: number): string {
  return `${(ms / MS_PER_SECOND).toFixed(1)} s`;
}

export function roundText({
  kind,
  what,
  silenceMs,
  acknowledged,
  lost,
  twice,
  failedQuestions,
}: RoundResult): string {
  const questions = failedQuestions === 0 ? "" : `, ${failedQuestions} questions failed`;
  const reports = `${acknowledged.toLocaleString("en")} reports acknowledged, ${lost} lost, ${twice} twice`;
  return `  ${kind} (${what}): ${reports}; nothing was acknowledged for ${seconds(silenceMs)}${questions}`;
}
