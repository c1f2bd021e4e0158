import { assert } from "../../../src/lib/assert.ts";
import { readable } from "../figures/report.ts";
import type { Results } from "../figures/results.ts";
import { machineText } from "../run/machine.ts";
import type { Shape } from "./shape.ts";
import { SHAPES } from "./shapes.ts";
import { RUNTIME_NAMES, type RuntimeName } from "./watched-server.ts";

const RUNTIME_TITLES: Readonly<Record<RuntimeName, string>> = { bun: "Bun", deno: "Deno" };

const COLUMNS = [
  "the attacker sends",
  "p99 of the other app before, during, after (ms)",
  "longest turn; hold (ms)",
  "resident before, at most, after (MiB)",
  "unanswered",
];

/** What a whole run of `fairness` found, in Markdown: a table for each runtime. What missed its bound is bold. */
export function fairnessTable(results: Results): string {
  const { machine, date } = results;
  const tables = RUNTIME_NAMES.map((runtime) => [
    `**${RUNTIME_TITLES[runtime]}**`,
    "",
    line(COLUMNS),
    line(COLUMNS.map(() => "---")),
    ...shapesOf(results, runtime).map(({ name, title }) =>
      rowOf(results, `${name}, ${runtime}`, `\`${name}\`: ${title}`),
    ),
    "",
  ]);
  return [
    summaryOf(results),
    "",
    ...tables.flat(),
    `${machineText(machine)}, ${date.slice(0, 10)}.`,
    "",
  ].join("\n");
}

/** All but those that came after the last whole run. */
function shapesOf({ verdicts }: Results, runtime: RuntimeName): readonly Shape[] {
  const isMeasured = ({ name }: Shape) =>
    verdicts.some((each) => each.name.startsWith(`${name}, ${runtime}: `));
  return SHAPES.filter((shape) => shape.cores === undefined || isMeasured(shape));
}

/**
 * The clock's bounds are counted beside those that are judged, and the quiet before beside the attack: noise has its
 * share of both.
 */
function summaryOf({ figures, verdicts }: Results): string {
  const reached = (what: string) => {
    const judged = verdicts.filter(({ name }) => name.endsWith(`: ${what}`));
    return `${judged.filter(({ isReached }) => isReached).length} of ${judged.length}`;
  };
  const within = (what: string, most: number) =>
    figures.filter(({ name, runs }) => name.endsWith(`: ${what}`) && runs[0]! <= most).length;
  return [
    `Rows in which nobody stayed unanswered: ${reached("failures")}; with a turn of at most 50 ms: ${reached("turn")}; with no more than 1.2 times the memory: ${reached("memory kept")}.`,
    `By the clock, a hold of at most 50 ms: ${within("longest hold", 50)}, of at most 150 ms: ${within("longest hold", 150)}; before the attacks ${within("longest hold before", 50)} and ${within("longest hold before", 150)}.`,
    `A p99 within five times that of before or 50 ms: ${reached("p99")}, but of at most 50 ms: ${within("p99 during", 50)}; before the attacks ${within("p99 before", 50)}.`,
  ].join("\n");
}

function rowOf({ figures, verdicts }: Results, name: string, title: string): string {
  const figure = (what: string) => {
    const found = figures.find((each) => each.name === `${name}: ${what}`);
    assert(found !== undefined, `"${name}: ${what}" was measured`);
    return readable(found.runs[0]!);
  };
  const judged = (what: string, text: string | null = null) => {
    const found = verdicts.find((each) => each.name === `${name}: ${what}`);
    assert(found?.isReached !== undefined, `"${name}: ${what}" was judged`);
    const shown = text ?? readable(found.value);
    return found.isReached ? shown : `**${shown}**`;
  };
  return line([
    title,
    `${figure("p99 before")}, ${judged("p99")}, ${figure("p99 after")}`,
    `${judged("turn")}; ${figure("longest hold")}`,
    `${figure("resident before")}, ${figure("resident at most")}, ${judged("memory kept", figure("resident after"))}`,
    judged("failures"),
  ]);
}

function line(cells: readonly string[]): string {
  return `| ${cells.join(" | ")} |`;
}
