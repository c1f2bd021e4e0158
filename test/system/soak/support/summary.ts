import type { SoakSummary } from "./crash-soak.ts";

export function isGood({ refusedStarts, wrongAnswers, verifyCode }: SoakSummary): boolean {
  return refusedStarts.length === 0 && wrongAnswers.length === 0 && verifyCode === 0;
}

/** What the rounds came to, a line for each figure. */
export function summaryText(runtime: string, summary: SoakSummary): string {
  const { kills, readyMs, refusedStarts, wrongAnswers } = summary;
  const median = readyMs[readyMs.length >> 1] ?? Number.NaN;
  const lines: [string, string | number][] = [
    ["rounds", summary.rounds],
    ["kills under load", kills.underLoad],
    ["  while a seal ran, those at a start too", kills.inSeal],
    ["  when a seal had ended under load", kills.afterSeal],
    ["kills before the start was ready", kills.inReplay],
    ["reports acknowledged", summary.acknowledgedReports],
    ["records they made", summary.records],
    ["profiles set and deleted", summary.acknowledgedEdits],
    ["archived days", summary.archivedDays],
    ["lost, doubled or changed, and other wrong answers", wrongAnswers.length],
    ["starts", readyMs.length + refusedStarts.length],
    ["starts refused", refusedStarts.length],
    ["ready after, ms", `${Math.round(median)} median, ${Math.round(readyMs.at(-1) ?? Number.NaN)} at most`],
    ["verify", summary.verifyCode === 0 ? "nothing damaged" : `exit code ${summary.verifyCode}`],
  ];
  const width = Math.max(...lines.map(([name]) => name.length));
  const rows = lines.map(([name, value]) => `  ${name.padEnd(width)}  ${value.toLocaleString("en")}`);
  const faults = [...refusedStarts, ...wrongAnswers].map((fault) => `  wrong: ${fault}`);
  if (summary.directory !== null) faults.push(`  The data directory is kept in ${summary.directory}`);
  return [`${runtime}:`, ...rows, ...faults].join("\n");
}
