/** More than any chain of callbacks takes that the unit tests start without a timer, a file or a socket. */
const TURNS = 20;

/**
 * Lets the event loop turn, without any timer: what is ready runs, and what waits for a timer does not. For tests that
 * let work get as far as it can, or that say that nothing more happens by itself.
 */
export async function turns(count = TURNS): Promise<void> {
  for (let turn = 0; turn < count; turn++) await new Promise((resolve) => setImmediate(resolve));
}
