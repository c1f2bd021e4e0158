import { parseArgs } from "node:util";
import type { Bench } from "./support/bench.ts";
import { runBench } from "./support/bench-run.ts";
import { machineText, readMachine } from "./support/machine.ts";

const NAMES = [
  "ingest",
  "replay",
  "memory",
  "device-page",
  "start",
  "archive",
  "seal",
  "ready",
  "year",
] as const;

const HELP = `Usage: bun run bench [NAME ...] [--smoke]

Runs the benches named, or all: ${NAMES.join(", ")}.
Each asks a question, times the obvious way beside ours in the same run, and prints ratios.

  --smoke   small sizes: shows that the benches work, not how fast anything is
  --help    this text
`;

const { values, positionals } = parseArgs({
  args: process.argv.slice(2),
  allowPositionals: true,
  options: {
    smoke: { type: "boolean", default: false },
    help: { type: "boolean", default: false },
  },
});
const unknown = positionals.filter((name) => !NAMES.includes(name as (typeof NAMES)[number]));
if (values.help) {
  console.log(HELP);
} else if (unknown.length > 0) {
  console.error(`There is no bench ${unknown.join(", ")}. There are: ${NAMES.join(", ")}.`);
  process.exitCode = 2;
} else {
  console.log(machineText(readMachine()));
  for (const name of positionals.length > 0 ? positionals : NAMES) {
    const { bench } = (await import(`./${name}.ts`)) as { bench: Bench };
    console.log(`\n${name}: ${bench.question}`);
    await runBench({ bench, isSmoke: values.smoke, given: new Map(), print: console.log });
  }
}
