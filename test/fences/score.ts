import type { Expected } from "./degrade.ts";
import type { MadeEvent } from "./rules.ts";

export interface Score {
  /** Expected events. */
  readonly expected: number;
  /** Expected events that were not made in time. */
  readonly missed: number;
  /** Events that were not expected. */
  readonly false: number;
}

export const NO_SCORE: Score = { expected: 0, missed: 0, false: 0 };

/** Gives each event to the first expected one of its kind and time that has none yet. */
export function scoreOf(expected: readonly Expected[], events: readonly MadeEvent[]): Score {
  const open = new Set(expected);
  let falseCount = 0;
  for (const { kind, timestamp } of events.toSorted((a, b) => a.timestamp - b.timestamp)) {
    const match = [...open].find(
      (each) => each.kind === kind && each.earliest <= timestamp && timestamp <= each.latest,
    );
    if (match === undefined) falseCount++;
    else open.delete(match);
  }
  return { expected: expected.length, missed: open.size, false: falseCount };
}

export function addScores(a: Score, b: Score): Score {
  return { expected: a.expected + b.expected, missed: a.missed + b.missed, false: a.false + b.false };
}
