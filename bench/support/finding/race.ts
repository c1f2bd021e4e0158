import { assert } from "../../../src/lib/assert.ts";
import type { CircleQuery } from "../../../src/spatial/positions.ts";
import type { Figure } from "../figures/report.ts";
import type { Answer, Contestant } from "./contestant.ts";
import { applyMoves, type Moves } from "./walk.ts";

/** Queries before the timing, since the former turn has evicted the caches. */
const WARM_UP_QUERIES = 500;
const WARM_UP_SHARE = 0.1;

/** Returns the result of one turn, in the figures' unit. */
export type TakeTurn = (contestant: Contestant, round: number) => number;

/**
 * Every contestant has a turn in every round, with another one first each time, so that other load affects all alike.
 * Garbage is collected after each turn. Returns a figure by contestant's name.
 */
export function race(
  name: string,
  unit: string,
  contestants: readonly Contestant[],
  rounds: number,
  takeTurn: TakeTurn,
): ReadonlyMap<string, Figure> {
  const runs = contestants.map((): number[] => []);
  for (let round = 0; round < rounds; round++) {
    for (let turn = 0; turn < contestants.length; turn++) {
      const index = (round + turn) % contestants.length;
      runs[index]!.push(takeTurn(contestants[index]!, round));
      if (rounds > 1) Bun.gc(true); // A single round, as in a smoke run, compares nothing.
    }
  }
  return new Map(
    contestants.map((contestant, index) => [
      contestant.name,
      { name: `${name}: ${contestant.name}`, unit, runs: runs[index]! },
    ]),
  );
}

/** Microseconds per query, over as many as fit in the time slice. */
export function timeQueries(
  contestant: Contestant,
  queries: readonly CircleQuery[],
  sliceMs: number,
): number {
  warmUp(contestant, queries, sliceMs);
  const startMs = performance.now();
  let elapsedMs = 0;
  let asked = 0;
  while (asked < queries.length && elapsedMs < sliceMs) {
    contestant.find(queries[asked++]!);
    elapsedMs = performance.now() - startMs;
  }
  return (elapsedMs * 1000) / asked;
}

/**
 * Microseconds per query with the preceding moves. Moves that don't fit in the slice are made afterwards, so that all
 * contestants have the same positions again.
 */
export function timeQueriesAndMoves(
  contestant: Contestant,
  queries: readonly CircleQuery[],
  moves: Moves,
  sliceMs: number,
): number {
  const set = setterOf(contestant);
  const movesBetween = moves.device.length / queries.length;
  warmUp(contestant, queries, sliceMs);
  const startMs = performance.now();
  let elapsedMs = 0;
  let asked = 0;
  while (asked < queries.length && elapsedMs < sliceMs) {
    applyMoves(set, moves, asked * movesBetween, (asked + 1) * movesBetween);
    contestant.find(queries[asked++]!);
    elapsedMs = performance.now() - startMs;
  }
  applyMoves(set, moves, asked * movesBetween, moves.device.length);
  return (elapsedMs * 1000) / asked;
}

/** Moves a second. */
export function timeMoves(contestant: Contestant, moves: Moves): number {
  const set = setterOf(contestant);
  const startMs = performance.now();
  applyMoves(set, moves, 0, moves.device.length);
  return moves.device.length / ((performance.now() - startMs) / 1000);
}

/** Throws if a contestant's answer differs from the first one's; returns the matches of each query. */
export function checkAnswers(
  contestants: readonly Contestant[],
  queries: readonly CircleQuery[],
): readonly number[] {
  const [reference, ...others] = contestants;
  return queries.map((query) => {
    const expected = textOf(reference!.find(query));
    for (const { name, find } of others) {
      const given = textOf(find(query));
      assert(
        given === expected,
        `${name} answers ${JSON.stringify(query)} as ${reference!.name} does: ${expected}, not ${given}`,
      );
    }
    return reference!.find(query).matches;
  });
}

/** The full answer with distances to the millimeter: some contestants measure chords, with errors below a nanometer. */
export function textOf({ count, devices, meters, matches }: Answer): string {
  const page = Array.from(
    { length: count },
    (_, place) => `${devices[place]} at ${meters[place]!.toFixed(3)}`,
  );
  return `${matches} (${page.join(", ")})`;
}

function warmUp(contestant: Contestant, queries: readonly CircleQuery[], sliceMs: number): void {
  const endMs = performance.now() + sliceMs * WARM_UP_SHARE;
  // From the end, since the timed queries may not get that far.
  for (let asked = 0; asked < Math.min(WARM_UP_QUERIES, queries.length) && performance.now() < endMs; asked++)
    contestant.find(queries.at(-1 - asked)!);
}

function setterOf({ name, set }: Contestant): NonNullable<Contestant["set"]> {
  assert(set !== undefined, `${name} can be updated`);
  return set;
}
