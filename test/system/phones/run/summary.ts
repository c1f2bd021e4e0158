import { formatTable } from "../../../../src/cli/screen/layout.ts";
import type { PhonesRun } from "./phones-run.ts";

export function isGood({ faults, verifyCode }: PhonesRun): boolean {
  return faults.length === 0 && verifyCode === 0;
}

const HEADER = ["phone", "made", "stored", "quarantined", "lost by its rule", "resent", "answers"];

/** What a run came to: a line a phone, then what befell the server, then what is wrong. */
export function summaryText(runtime: string, run: PhonesRun): string {
  const rows = run.phones.map(({ name, made, stored, quarantined, lost, resent, answers }) => [
    name,
    ...[made, stored, quarantined].map(String),
    counted(lost),
    String(resent),
    counted(answers),
  ]);
  const lines = [
    `${runtime}:`,
    formatTable(HEADER, rows).trimEnd(),
    `the server: ${counted(run.faultCounts)}; ${run.starts} starts`,
    `the vandal was answered: ${counted(run.vandal)}`,
    `queues empty after ${(run.drainMs / 1000).toFixed(1)} s of peace`,
    `verify: ${run.verifyCode === 0 ? "nothing damaged" : `exit code ${run.verifyCode}`}`,
    ...run.faults.map((fault) => `wrong: ${fault}`),
  ];
  if (run.directory !== null) lines.push(`The data directory is kept in ${run.directory}`);
  return `${lines.join("\n")}\n`;
}

function counted(counts: ReadonlyMap<string, number>): string {
  return counts.size === 0 ? "-" : [...counts].map(([what, count]) => `${count} ${what}`).join(", ");
}
