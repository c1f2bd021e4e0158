/*
 * The outcome of a promise, awaited before `expect()` sees it. `expect(promise).rejects` of Bun 1.4 runs its own event
 * loop, which `setImmediate` does not wake up: it sleeps until the next timer, which may be the test's timeout.
 */

/** Returns the reason of a rejection. Throws if the promise was fulfilled. */
export async function rejection(work: unknown): Promise<unknown> {
  let value: unknown;
  try {
    value = await work;
  } catch (error) {
    return error;
  }
  throw new Error(`The promise was fulfilled with ${Bun.inspect(value)}.`);
}

/** Returns a function that throws the reason of a rejection, for `expect(await outcome(work)).toThrow()`. */
export async function outcome<Value>(work: Value | Promise<Value>): Promise<() => Value> {
  try {
    const value = await work;
    return () => value;
  } catch (error) {
    return () => {
      throw error;
    };
  }
}
