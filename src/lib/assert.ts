/** Stops on a broken invariant: our mistake, never a caller's. `fact` states what should have been true. */
export function assert(holds: boolean, fact: string): asserts holds {
  if (!holds) throw new AssertionError(fact);
}

export class AssertionError extends Error {
  override readonly name = "AssertionError";
  constructor(fact: string) {
    super(`This should hold, and does not: ${fact}`);
  }
}
