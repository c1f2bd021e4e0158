import { assert } from "../../../src/lib/assert.ts";
import { type Figure, figureLines, median } from "../figures/report.ts";
import { isReached, verdictLine } from "../figures/verdict.ts";
import type { Bench, BenchRun, Bound } from "./bench.ts";

/** The results of a run. */
export interface Kept {
  readonly sizes: Readonly<Record<string, number>>;
  readonly figures: readonly Figure[];
  readonly ratios: readonly KeptRatio[];
  readonly verdicts: readonly KeptVerdict[];
  readonly notes: readonly string[];
  /** Files beside the results, by their suffix after the bench's name. */
  readonly attachments: ReadonlyMap<string, string>;
}

/** The ratio of two figures, one number per run. */
export interface KeptRatio {
  readonly name: string;
  readonly ours: string;
  readonly control: string;
  /** The unit of both figures. */
  readonly unit: string;
  readonly runs: readonly number[];
  readonly bound?: Bound;
  readonly isReached?: boolean;
}

export interface KeptVerdict {
  readonly name: string;
  readonly value: number;
  readonly unit: string;
  readonly bound?: Bound;
  readonly isReached?: boolean;
}

export interface BenchRunOptions {
  readonly bench: Bench;
  readonly isSmoke: boolean;
  /** Sizes by flag. Unknown ones belong to other benches. */
  readonly given: ReadonlyMap<string, number>;
  /** Choices by flag, likewise. */
  readonly chosen?: ReadonlyMap<string, readonly string[]>;
  print(line: string): void;
}

/** Runs a bench; prints its results as they come, and returns them. */
export async function runBench(options: BenchRunOptions): Promise<Kept> {
  const { bench, isSmoke, given, chosen = new Map(), print } = options;
  const sizes = Object.fromEntries(
    Object.entries(bench.sizes).map(([name, { smoke, full }]) => [
      name,
      given.get(name) ?? (isSmoke ? smoke : full),
    ]),
  );
  const figures: Figure[] = [];
  const ratios: KeptRatio[] = [];
  const verdicts: KeptVerdict[] = [];
  const notes: string[] = [];
  const attachments = new Map<string, string>();
  const say = (line: string) => print(`  ${line}`);

  const run: BenchRun = {
    isSmoke,
    size(name) {
      const value = sizes[name];
      assert(value !== undefined, `"${name}" is among the bench's sizes`);
      return value;
    },
    chosen(name) {
      const choice = bench.choices?.[name];
      assert(choice !== undefined, `"${name}" is among the bench's choices`);
      const wanted = chosen.get(name) ?? (isSmoke ? choice.smoke : undefined);
      return wanted === undefined ? choice.values : choice.values.filter((value) => wanted.includes(value));
    },
    figures(measured) {
      for (const figure of measured) {
        assert(figure.runs.length > 0 && figure.runs.every(Number.isFinite), `"${figure.name}" was measured`);
        add(figures, figure);
      }
      for (const line of figureLines(measured)) say(line);
    },
    ratio(name, ours, control, bound) {
      assert(ours.runs.length === control.runs.length, `both figures of "${name}" have a value each run`);
      assert(ours.unit === control.unit, `both figures of "${name}" have one unit`);
      const runs = ours.runs.map((value, index) => value / control.runs[index]!);
      const value = median(runs);
      const { unit } = ours;
      add(ratios, { name, ours: ours.name, control: control.name, unit, runs, ...judged(value, bound) });
      say(verdictLine(name, value, "", bound));
      return value;
    },
    verdict(name, value, unit, bound) {
      add(verdicts, { name, value, unit, ...judged(value, bound) });
      say(verdictLine(name, value, unit, bound));
    },
    note(text) {
      notes.push(text);
      say(text);
    },
    attach(ending, text) {
      attachments.set(ending, text);
    },
  };
  await bench.run(run);
  return { sizes, figures, ratios, verdicts, notes, attachments };
}

function judged(value: number, bound?: Bound) {
  return bound === undefined ? {} : { bound, isReached: isReached(value, bound) };
}

/** Adds a result for comparisons by name. */
function add<Item extends { readonly name: string }>(items: Item[], item: Item): void {
  assert(!items.some(({ name }) => name === item.name), `"${item.name}" is given once`);
  items.push(item);
}
