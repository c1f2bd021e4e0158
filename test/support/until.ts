/** Short compared with other processes' answers, but long enough to leave them the processor. */
const POLL_MS = 5;

/**
 * Waits until the condition holds; only the test's timeout limits it. Prefer an event or a promise of the code under
 * test; this is for a state without an event.
 */
export async function until(isSo: () => boolean | Promise<boolean>): Promise<void> {
  while (!(await isSo())) await new Promise((resolve) => setTimeout(resolve, POLL_MS));
}
