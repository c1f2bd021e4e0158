/** Puts the results of the last full run of `fairness` into SECURITY.md: `bun bench/tools/write-security.ts`. */
import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { SECTION } from "../support/fairness/security-section.ts";
import { fairnessTable } from "../support/fairness/table.ts";
import { readResults } from "../support/figures/results.ts";

const ROOT = join(import.meta.dir, "../..");
const path = join(ROOT, "SECURITY.md");
const results = readResults(join(ROOT, "bench/results/fairness.json"));
if (!results.ok) throw new Error(results.error);
writeFileSync(path, SECTION.replace(readFileSync(path, "utf8"), fairnessTable(results.value)));
