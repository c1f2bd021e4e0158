import { readFileSync, writeFileSync } from "node:fs";
import { runCommandLine } from "../support/run-flags.ts";
import { type FencesCommand, HELP, parseFencesCommand } from "./command-line.ts";
import { deviceIdOf, journeyLine, parseEvents } from "./exchange.ts";
import { OURS } from "./rules.ts";
import { addScores, NO_SCORE, type Score, scoreOf } from "./score.ts";
import { createJourneys, type SuiteSize, scoreRules } from "./suite.ts";

/** `npm run fences`: which events of geofences are missed, and which are false, by our rule and those of others. */

process.exitCode = await runCommandLine(parseFencesCommand(process.argv.slice(2)), HELP, main);

async function main({ size, write, score }: Exclude<FencesCommand, { kind: "help" }>): Promise<number> {
  if (score !== null) return scoreFile(size, score);
  if (write !== null) {
    const lines = Array.from(createJourneys(size), (journey, index) => journeyLine(index, journey));
    writeFileSync(write, `${lines.join("\n")}\n`);
    return 0;
  }
  const scores = scoreRules(createJourneys(size));
  printTable(scores);
  const { missed, false: falseCount } = scores.get(OURS)!;
  return missed + falseCount === 0 ? 0 : 1;
}

function scoreFile(size: SuiteSize, path: string): number {
  const events = parseEvents(readFileSync(path, "utf8"));
  if (!events.ok) {
    console.error(events.error);
    return 2;
  }
  let total = NO_SCORE;
  let index = 0;
  for (const { expected } of createJourneys(size))
    total = addScores(total, scoreOf(expected, events.value.get(deviceIdOf(index++)) ?? []));
  printTable(new Map([[path, total]]));
  return 0;
}

function printTable(scores: ReadonlyMap<string, Score>): void {
  const width = Math.max(...[...scores.keys()].map((name) => name.length));
  console.log(`${"rule".padEnd(width)}  expected  missed   false`);
  for (const [name, { expected, missed, false: falseCount }] of scores)
    console.log(
      name.padEnd(width),
      ...[expected, missed, falseCount].map((count) => String(count).padStart(8)),
    );
}
