import { expect, test } from "bun:test";
import { changesOf, comparisonLines, differencesOf } from "../../../bench/support/figures/compare.ts";
import type { Figure } from "../../../bench/support/figures/report.ts";
import { sampleResults } from "./sample-results.ts";

/** The verdict on a figure of this unit. */
function verdict(unit: string, before: readonly number[], now: readonly number[]): string {
  const figure = (runs: readonly number[]): Figure => ({ name: "figure", unit, runs });
  return changesOf([figure(before)], [figure(now)])[0]!.verdict;
}

const SMALL = [1, 1.1, 1.2, 1.3, 1.4];
const LARGE = [2, 2.1, 2.2, 2.3, 2.4];

test("changesOf() reads the direction from the unit", () => {
  expect(verdict("reports/s", SMALL, LARGE)).toBe("faster (p 0.0079)");
  expect(verdict("reports/s", LARGE, SMALL)).toStartWith("slower");
  for (const unit of ["ns/row", "µs", "ms", "s", "ms/page"]) {
    expect(verdict(unit, SMALL, LARGE)).toStartWith("slower");
    expect(verdict(unit, LARGE, SMALL)).toStartWith("faster");
  }
  for (const unit of ["bytes/record", "MB", "", "samples"]) {
    expect(verdict(unit, SMALL, LARGE)).toStartWith("larger");
    expect(verdict(unit, LARGE, SMALL)).toStartWith("smaller");
  }
});

test("changesOf() sees no difference where runs overlap, and says so where there are too few", () => {
  expect(verdict("ms", SMALL, [1.05, 1.15, 1.25, 1.35, 1.45])).toStartWith("no difference seen (p ");
  expect(verdict("ms", SMALL.slice(2), LARGE.slice(2))).toBe("too few runs to tell (3 then, 3 now)");
  expect(verdict("ms", [1], [2])).toBe("too few runs to tell (1 then, 1 now)");
});

test("changesOf() leaves out figures that only one run has, or in another unit", () => {
  const figure: Figure = { name: "a", unit: "ms", runs: SMALL };
  expect(changesOf([figure], [{ ...figure, name: "b" }])).toEqual([]);
  expect(changesOf([figure], [{ ...figure, unit: "s" }])).toEqual([]);
});

test("differencesOf() names what else could make the difference", () => {
  const { machine, sizes } = sampleResults;
  const other = {
    ...sampleResults,
    isSmoke: true,
    machine: { ...machine, cores: 2, runtime: "Bun 1.5.0" },
    sizes: { devices: 4000, seed: sizes.seed!, rounds: 5 },
  };
  expect(differencesOf(sampleResults, sampleResults)).toEqual([]);
  expect(differencesOf(sampleResults, other)).toEqual([
    "a full run then, a smoke run now",
    "cores was 1, is 2",
    "runtime was Bun 1.4.5, is Bun 1.5.0",
    "devices was 200000, is 4000",
    "rounds was not there, is 5",
  ]);
});

test("comparisonLines() sees no difference between a run and itself", () => {
  const lines = comparisonLines(sampleResults, sampleResults).slice(1, -1);
  expect(lines).toHaveLength(5);
  for (const line of lines) expect(line).toEndWith("+0.0 %  no difference seen (p 1)");
});

test("comparisonLines() lines up medians, change and verdict, for figures and then for ratios", () => {
  const [ours, control] = sampleResults.figures;
  const now = {
    ...sampleResults,
    sizes: { ...sampleResults.sizes, devices: 100 },
    figures: [{ ...ours!, runs: ours!.runs.map((ms) => ms * 10) }, control!, { ...ours!, name: "new" }],
  };
  expect(comparisonLines(sampleResults, now)).toEqual([
    "against the run of 2026-11-21T12:00:00.000Z:",
    "careful: devices was 200000, is 100",
    "ours               2 -> 20 ms  +900.0 %  slower (p 0.0079)",
    "control            4 -> 4 ms  +0.0 %  no difference seen (p 1)",
    "times the control  0.5 -> 0.5  +0.0 %  no difference seen (p 1)",
    "only then: rate; memory",
    "only now: new",
    "Noise within both runs is known to this; what differs from one start of a process to the next is not.",
  ]);
});
