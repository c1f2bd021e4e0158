/** Long work in steps: a generator that yields wherever it may be interrupted, and returns what it made. */
export type Steps<Value> = Generator<void, Value, void>;

/** Work that can't be cut, as long as it is short enough by itself. */
// biome-ignore lint/correctness/useYield: it is one step.
export function* inOneStep<Value>(work: () => Value): Steps<Value> {
  return work();
}
