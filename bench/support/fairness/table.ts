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

/** Tables of a full run of `fairness` in Markdown, one per runtime. Missed bounds are bold. */
export function fairnessTables(results: Results): string {
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
  return [...tables.flat(), `${machineText(machine)}, ${date.slice(0, 10)}.`, ""].join("\n");
}

/** The number of rows of a full run that reach each bound, in Markdown, for `bench/README.md`. */
export function fairnessSummary({ verdicts }: Results): string {
  const rows = BOUNDS.map(([name, bound]) => {
    const judged = verdicts.filter((verdict) => verdict.name.endsWith(`: ${name}`));
    const reached = judged.filter(({ isReached }) => isReached);
    return line([bound, `${reached.length} of ${judged.length}`]);
  });
  return [line(["bound", "rows that reach it"]), "|---|---|", ...rows, ""].join("\n");
}

/** The verdicts of a row, with their bounds. */
const BOUNDS = [
  ["failures", "no request of the app fails"],
  ["turn", "a turn of at most 50 ms"],
  ["memory kept", "at most 1.2 times the memory"],
  ["p99", "a p99 of at most 50 ms, or five times that of before"],
] as const;

/** All shapes except those added after the last full run. */
function shapesOf({ verdicts }: Results, runtime: RuntimeName): readonly Shape[] {
  const isMeasured = ({ name }: Shape) =>
    verdicts.some((each) => each.name.startsWith(`${name}, ${runtime}: `));
  return SHAPES.filter((shape) => shape.cores === undefined || isMeasured(shape));
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
