import process from "node:process";
import { countOf } from "../../../src/cli/screen/layout.ts";
import { type FuzzCommand, helpText, parseFuzzCommand } from "./support/command-line.ts";
import { readCorpus, readFound, writeCorpus, writeFound } from "./support/corpus.ts";
import { startCoverage } from "./support/coverage.ts";
import { fuzz } from "./support/fuzz.ts";
import { TARGETS } from "./targets.ts";

/** `npm run fuzz`, on Deno: V8 says what has run. */

const SOURCE = /\/src\/[^/].*\.ts$/;

process.exitCode = await main(process.argv.slice(2));

async function main(args: readonly string[]): Promise<number> {
  const names = TARGETS.map(({ name }) => name);
  const parsed = parseFuzzCommand(args, names, Date.now());
  if (!parsed.ok) {
    console.error(parsed.error);
    return 2;
  }
  if (parsed.value.kind === "help") {
    process.stdout.write(helpText(names));
    return 0;
  }
  return fuzzAll(parsed.value);
}

async function fuzzAll(command: Extract<FuzzCommand, { kind: "fuzz" }>): Promise<number> {
  const { seconds, seed, keep } = command;
  console.log(`seed ${seed}`);
  const targets = TARGETS.filter(({ name }) => command.target === null || name === command.target);
  const coverage = await startCoverage(SOURCE);
  let failures = 0;
  for (const target of targets) {
    const [known, found] = [readCorpus(target), readFound(target)];
    coverage.clear();
    const timeMs = (seconds * 1000) / targets.length;
    const { runs, blocks, kept, failure } = await fuzz(target, {
      seed,
      timeMs,
      coverage,
      corpus: [...known, ...found],
    });
    console.log(
      `${target.name.padEnd(12)} ${runs.toLocaleString("en").padStart(9)} runs, ${blocks} blocks of code, ${countOf(kept.length, "input")} kept`,
    );
    if (failure !== null) {
      failures++;
      console.log(
        `${target.name} failed: ${failure.fault}\nThe input is in ${writeFound(target, failure.input)}`,
      );
    } else if (keep) {
      writeCorpus(target, kept);
    }
  }
  return failures === 0 ? 0 : 1;
}
