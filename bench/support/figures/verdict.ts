import type { Bound } from "../run/bench.ts";
import { readable } from "./report.ts";

/* Verdicts on figures, as lines. */

export function isReached(value: number, { atLeast, atMost }: Bound): boolean {
  return value >= (atLeast ?? Number.NEGATIVE_INFINITY) && value <= (atMost ?? Number.POSITIVE_INFINITY);
}

/** A line with a value, its bound, and the verdict. */
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
