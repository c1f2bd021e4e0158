/** Short against what other processes take for an answer, and long enough to leave them the processor. */
const POLL_MS = 5;

/**
 * Waits until the condition holds. There is no limit of its own: the test's timeout ends a wait in vain. Prefer an
 * event or a promise if the code under test offers one; this is for a state that no event tells of.
 */
export async function until(isSo: () => boolean | Promise<boolean>): Promise<void> {
  while (!(await isSo())) await new Promise((resolve) => setTimeout(resolve, POLL_MS));
}
