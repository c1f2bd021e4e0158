/** Prints every row of the last full run of `fairness`, in Markdown: `bun bench/tools/fairness-table.ts`. */
import { join } from "node:path";
import { fairnessTables } from "../support/fairness/table.ts";
import { readResults } from "../support/figures/results.ts";

const results = readResults(join(import.meta.dir, "../results/fairness.json"));
if (!results.ok) throw new Error(results.error);
process.stdout.write(fairnessTables(results.value));
