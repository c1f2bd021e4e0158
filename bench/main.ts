import { parseArgs } from "node:util";
import type { Bench } from "./support/bench.ts";
import { printMachine } from "./support/report.ts";

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
  --large   \`year\` alone: 100 devices instead of 20
  --help    this text
`;

const { values, positionals } = parseArgs({
  args: process.argv.slice(2),
  allowPositionals: true,
  options: {
    smoke: { type: "boolean", default: false },
    large: { type: "boolean", default: false },
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
  printMachine();
  for (const name of positionals.length > 0 ? positionals : NAMES) {
    const { bench } = (await import(`./${name}.ts`)) as { bench: Bench };
    console.log(`\n${name}: ${bench.question}`);
    await bench.run(values.smoke);
  }
}
