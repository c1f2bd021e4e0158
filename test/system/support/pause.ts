/**
 * Waits for a time that is the input of a test: how long a fault lasts, when a process is killed, how often a client
 * sends. It never stands for "it has happened by then": that is what `test/support/until.ts` is for. Aborting the
 * signal ends the wait at once.
 */
export function pause(ms: number, signal?: AbortSignal): Promise<void> {
  return new Promise((resolve) => {
    if (signal?.aborted) return resolve();
    const timer = setTimeout(end, ms);
    signal?.addEventListener("abort", end, { once: true });
    function end(): void {
      clearTimeout(timer);
      signal?.removeEventListener("abort", end);
      resolve();
    }
  });
}
