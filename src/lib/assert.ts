/** Throws if an invariant is broken, which is a bug and never a caller's mistake. `fact` states what should hold. */
export function assert(holds: boolean, fact: string): asserts holds {
  if (!holds) throw new AssertionError(fact);
}

export class AssertionError extends Error {
  override readonly name = "AssertionError";
  constructor(fact: string) {
    super(`Assertion failed: ${fact}`);
  }
}
