import { chanceOfDifference, smallestChance } from "./rank-test.ts";
import { type Figure, median, readable } from "./report.ts";
import type { Results } from "./results.ts";

/**
 * A difference with a probability below 1 % counts. Benches print a dozen figures, so 5 % would give false alarms in
 * every other run.
 */
const CHANCE_MAX = 0.01;

/** The change of a figure or ratio between two runs. */
export interface Change {
  readonly name: string;
  readonly unit: string;
  readonly before: number;
  readonly now: number;
  readonly verdict: string;
}

/** Compares a run with an earlier one, in lines. */
export function comparisonLines(before: Results, now: Results): string[] {
  const ratios = changesOf(before.ratios, now.ratios).map((change) => ({ ...change, unit: "" }));
  return [
    `against the run of ${before.date}:`,
    ...differencesOf(before, now).map((difference) => `careful: ${difference}`),
    ...changeLines([...changesOf(before.figures, now.figures), ...ratios]),
    ...leftOut(before, now),
    "Noise within both runs is known to this; what differs from one start of a process to the next is not.",
  ];
}

/** Differences between two runs apart from our code. */
export function differencesOf(before: Results, now: Results): string[] {
  const kind = ({ isSmoke }: Results) => (isSmoke ? "a smoke run" : "a full run");
  return [
    ...(before.isSmoke === now.isSmoke ? [] : [`${kind(before)} then, ${kind(now)} now`]),
    ...membersDiffering({ ...before.machine }, { ...now.machine }),
    ...membersDiffering(before.sizes, now.sizes),
  ];
}

type Members = Readonly<Record<string, number | string>>;

function membersDiffering(before: Members, now: Members): string[] {
  const names = new Set([...Object.keys(before), ...Object.keys(now)]);
  return [...names]
    .filter((name) => before[name] !== now[name])
    .map((name) => `${name} was ${before[name] ?? "not there"}, is ${now[name] ?? "not there"}`);
}

/** Compares figures or ratios that both runs have. The unit tells the better direction. */
export function changesOf(before: readonly Figure[], now: readonly Figure[]): Change[] {
  return now.flatMap(({ name, unit, runs }) => {
    const old = before.find((figure) => figure.name === name && figure.unit === unit);
    if (old === undefined) return [];
    return [
      { name, unit, before: median(old.runs), now: median(runs), verdict: verdictOf(unit, old.runs, runs) },
    ];
  });
}

function verdictOf(unit: string, before: readonly number[], now: readonly number[]): string {
  if (smallestChance(before.length, now.length) > CHANCE_MAX) {
    return `too few runs to tell (${before.length} then, ${now.length} now)`;
  }
  const chance = chanceOfDifference(before, now);
  if (chance > CHANCE_MAX) return `no difference seen (${chanceText(chance)})`;
  return `${wordOf(unit, median(now) - median(before))} (${chanceText(chance)})`;
}

function chanceText(chance: number): string {
  return chance < 0.0001 ? "p < 0.0001" : `p ${Number(chance.toPrecision(2))}`;
}

/** More per second is faster, more seconds are slower; other units are more or less. */
function wordOf(unit: string, change: number): string {
  if (change === 0) return "differently spread";
  if (unit.endsWith("/s")) return change > 0 ? "faster" : "slower";
  if (/^(ns|[µμ]s|ms|s|min)\b/.test(unit)) return change > 0 ? "slower" : "faster";
  return change > 0 ? "larger" : "smaller";
}

function changeLines(changes: readonly Change[]): string[] {
  if (changes.length === 0) return ["no figure is in both"];
  const width = Math.max(...changes.map(({ name }) => name.length));
  return changes.map(({ name, unit, before, now, verdict }) => {
    const percent = ((now - before) / before) * 100;
    const change = Number.isFinite(percent)
      ? `${percent < 0 ? "" : "+"}${percent.toFixed(1)} %`
      : "from none";
    const values = `${readable(before)} -> ${readable(now)}${unit === "" ? "" : ` ${unit}`}`;
    return `${name.padEnd(width)}  ${values}  ${change}  ${verdict}`;
  });
}

function leftOut(before: Results, now: Results): string[] {
  const missing = (from: readonly Figure[], inThis: readonly Figure[]) =>
    from
      .filter(({ name, unit }) => !inThis.some((figure) => figure.name === name && figure.unit === unit))
      .map(({ name }) => name);
  const gone = missing(before.figures, now.figures);
  const added = missing(now.figures, before.figures);
  return [
    ...(gone.length === 0 ? [] : [`only then: ${gone.join("; ")}`]),
    ...(added.length === 0 ? [] : [`only now: ${added.join("; ")}`]),
  ];
}
