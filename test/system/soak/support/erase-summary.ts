import { type ErasureSummary, KILL_MOMENTS, type KillMoment } from "./erase-soak.ts";

export function isGoodErasing({ refusedStarts, wrongAnswers, verifyCode }: ErasureSummary): boolean {
  return refusedStarts.length === 0 && wrongAnswers.length === 0 && verifyCode === 0;
}

const MOMENT_TEXTS: Readonly<Record<KillMoment, string>> = {
  unanswered: "before the request was answered",
  masked: "before all days were written anew",
  rewritten: "before it was finished",
  finished: "when it was finished",
  inStart: "in the start after another kill",
};

/** What the kills came to, a line for each figure. */
export function erasureText(runtime: string, summary: ErasureSummary): string {
  const { erasures, kills, acknowledgedReports, refusedStarts, wrongAnswers, finishedMs, verifyCode } =
    summary;
  const median = finishedMs[finishedMs.length >> 1] ?? Number.NaN;
  const total = KILL_MOMENTS.reduce((sum, moment) => sum + kills[moment], 0);
  const lines: [string, string | number][] = [
    ["kills", total],
    ...KILL_MOMENTS.map((moment): [string, number] => [`  ${MOMENT_TEXTS[moment]}`, kills[moment]]),
    ["erasures that were finished", erasures],
    ["reports of other devices acknowledged", acknowledgedReports],
    ["traces, lost or changed records, and other wrong answers", wrongAnswers.length],
    ["starts refused", refusedStarts.length],
    [
      "finished after the last start, ms",
      `${Math.round(median)} median, ${Math.round(finishedMs.at(-1) ?? 0)} at most`,
    ],
    ["verify", verifyCode === 0 ? "nothing damaged" : `exit code ${verifyCode}`],
  ];
  const width = Math.max(...lines.map(([name]) => name.length));
  const rows = lines.map(([name, value]) => `  ${name.padEnd(width)}  ${value.toLocaleString("en")}`);
  const faults = [...refusedStarts, ...wrongAnswers].map((fault) => `  wrong: ${fault}`);
  if (summary.directory !== null) faults.push(`  The data directory is kept in ${summary.directory}`);
  return [`${runtime}:`, ...rows, ...faults].join("\n");
}
