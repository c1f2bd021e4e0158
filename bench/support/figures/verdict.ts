import type { Bound } from "../run/bench.ts";
import { readable } from "./report.ts";

/* Whether a figure is what was wanted, as a line says it. */

export function isReached(value: number, { atLeast, atMost }: Bound): boolean {
  return value >= (atLeast ?? Number.NEGATIVE_INFINITY) && value <= (atMost ?? Number.POSITIVE_INFINITY);
}

/** A value on a line, beside what it should reach and whether it does. */
export function verdictLine(name: string, value: number, unit: string, bound?: Bound): string {
  const line = `${name}: ${readable(value)}${unit === "" ? "" : ` ${unit}`}`;
  if (bound === undefined) return line;
  return `${line} (wanted: ${boundText(bound)}; ${isReached(value, bound) ? "reached" : "missed"})`;
}

function boundText({ atLeast, atMost }: Bound): string {
  const ends = [
    ...(atLeast === undefined ? [] : [`at least ${readable(atLeast)}`]),
    ...(atMost === undefined ? [] : [`at most ${readable(atMost)}`]),
  ];
  return ends.join(" and ");
}
