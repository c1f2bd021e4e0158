/** Long work in steps: a generator that yields wherever it may be interrupted, and returns what it made. */
export type Steps<Value> = Generator<void, Value, void>;

/** Work that can't be cut, as long as it is short enough by itself. */
// biome-ignore lint/correctness/useYield: it is one step.
export function* inOneStep<Value>(work: () => Value): Steps<Value> {
  return work();
}

/** Does something with what was made, within the last step. */
export function* thenDo<Value, Next>(steps: Steps<Value>, next: (value: Value) => Next): Steps<Next> {
  return next(yield* steps);
}
