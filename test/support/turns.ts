/** More turns than any chain of callbacks of the unit tests takes without a timer, a file or a socket. */
const TURNS = 20;

/**
 * Runs turns of the event loop without timers: work that is ready runs, work that waits for a timer does not. For tests
 * that let work proceed, or that check that nothing more happens.
 */
export async function turns(count = TURNS): Promise<void> {
  for (let turn = 0; turn < count; turn++) await new Promise((resolve) => setImmediate(resolve));
}
