/**
 * Compares two checkouts in alternating runs, so that other load affects both: from the project's directory, `bun
 * bench/tools/pairs.ts BEFORE BENCH PAIRS [flags of the bench]`. BEFORE is the directory of the other checkout, with
 * its packages installed. A figure's cost is its loss in the later checkout, in percent of the pair's other run; the
 * median over the pairs counts.
 */
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join, resolve } from "node:path";
import { median } from "../support/figures/report.ts";
import { readResults } from "../support/figures/results.ts";

const [before, name, pairsText, ...flags] = process.argv.slice(2);
const pairs = Number(pairsText);
if (before === undefined || name === undefined || !(pairs > 0)) {
  console.error("Usage: bun bench/tools/pairs.ts BEFORE BENCH PAIRS [flags of the bench]");
  process.exit(2);
}
const checkouts = { before: resolve(before), after: resolve(import.meta.dir, "../..") };

const costs = new Map<string, number[]>();
for (let pair = 0; pair < pairs; pair++) {
  const order = pair % 2 === 0 ? (["before", "after"] as const) : (["after", "before"] as const);
  const figures = { before: new Map<string, number>(), after: new Map<string, number>() };
  for (const side of order) figures[side] = runOnce(checkouts[side], name);
  for (const [figure, value] of figures.after) {
    const earlier = figures.before.get(figure);
    if (earlier === undefined) continue;
    const cost = (earlier / value - 1) * 100;
    costs.set(figure, [...(costs.get(figure) ?? []), cost]);
  }
}
for (const [figure, all] of costs) {
  const sorted = all.toSorted((a, b) => a - b).map((cost) => cost.toFixed(1));
  console.log(
    `${figure}: costs ${median(all).toFixed(1)} % more, median of ${pairs} pairs (${sorted.join(", ")})`,
  );
}

/** Runs a bench; returns the medians of its figures, by name. */
function runOnce(checkout: string, bench: string): Map<string, number> {
  const directory = mkdtempSync(join(tmpdir(), "wherehouse-pairs-"));
  try {
    const path = join(directory, `${bench}.json`);
    const command = [process.execPath, "bench/main.ts", bench, "--save", path, ...flags];
    const { exitCode, stderr } = Bun.spawnSync(command, { cwd: checkout, stdout: "ignore", stderr: "pipe" });
    if (exitCode !== 0) throw new Error(`${checkout}: ${stderr}`);
    const results = readResults(path);
    if (!results.ok) throw new Error(results.error);
    return new Map(results.value.figures.map(({ name, runs }) => [name, median(runs)]));
  } finally {
    rmSync(directory, { recursive: true });
  }
}
