/*
 * How a promise ended, awaited before `expect()` sees it. `expect(promise).rejects` of Bun 1.4 runs the event loop by
 * itself until the promise has ended, and does not wake up for `setImmediate`: it then sleeps until the next timer,
 * which may be the test's own timeout.
 */

/** What the promise was rejected with. Throws if it was fulfilled. */
export async function rejection(work: unknown): Promise<unknown> {
  let value: unknown;
  try {
    value = await work;
  } catch (error) {
    return error;
  }
  throw new Error(`The promise was fulfilled with ${Bun.inspect(value)}.`);
}

/** Throws what the promise was rejected with, for `expect(await outcome(work)).toThrow()`. */
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
