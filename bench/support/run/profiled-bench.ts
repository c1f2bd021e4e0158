/** Runs one bench in a separate process for the profiler, whose overhead makes the figures useless. */
import { runBench } from "./bench-run.ts";
import { loadBench } from "./benches.ts";
import type { ProfiledBench } from "./profiling.ts";

const { name, isSmoke, given, chosen } = JSON.parse(process.argv[2]!) as ProfiledBench;
const bench = await loadBench(name);
await runBench({ bench, isSmoke, given: new Map(given), chosen: new Map(chosen), print: () => {} });
