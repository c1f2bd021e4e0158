import { nextTurn } from "./timers.ts";

/** Long work in steps: a generator that yields wherever it may be interrupted, and returns its result. */
export type Steps<Value> = Generator<void, Value, void>;

/** Work in a single step, for work that is short enough. */
// biome-ignore lint/correctness/useYield: it is one step.
export function* inOneStep<Value>(work: () => Value): Steps<Value> {
  return work();
}

/** Runs all steps now, where nothing else may come between them. */
export function inOneTurn<Value>(steps: Steps<Value>): Value {
  for (;;) {
    const step = steps.next();
    if (step.done === true) return step.value;
  }
}

/** Applies `next` to the result, within the last step. */
export function* thenDo<Value, Next>(steps: Steps<Value>, next: (value: Value) => Next): Steps<Next> {
  return next(yield* steps);
}

/** Runs the steps at once, a turn of the event loop for each. */
export async function inTurns<Value>(steps: Steps<Value>): Promise<Value> {
  for (;;) {
    const step = steps.next();
    if (step.done === true) return step.value;
    await nextTurn();
  }
}

/** Items sorted per step, in some tenths of a millisecond. */
const RUN_ITEMS = 1024;

/** A stable sort in steps, with the result of `toSorted()`. */
export function* sortInSteps<Item>(
  items: readonly Item[],
  compare: (a: Item, b: Item) => number,
): Steps<readonly Item[]> {
  let runs: (readonly Item[])[] = [];
  for (let start = 0; start < items.length; start += RUN_ITEMS) {
    runs.push(items.slice(start, start + RUN_ITEMS).sort(compare));
    yield;
  }
  while (runs.length > 1) {
    const merged: (readonly Item[])[] = [];
    for (let index = 0; index < runs.length; index += 2) {
      const [first, second] = [runs[index]!, runs[index + 1]];
      merged.push(second === undefined ? first : yield* merge(first, second, compare));
    }
    runs = merged;
  }
  return runs[0] ?? [];
}

function* merge<Item>(
  a: readonly Item[],
  b: readonly Item[],
  compare: (a: Item, b: Item) => number,
): Steps<readonly Item[]> {
  const merged: Item[] = [];
  let [i, j] = [0, 0];
  while (i < a.length || j < b.length) {
    const takesFirst = j === b.length || (i < a.length && compare(a[i]!, b[j]!) <= 0);
    merged.push(takesFirst ? a[i++]! : b[j++]!);
    if (merged.length % RUN_ITEMS === 0) yield;
  }
  return merged;
}
