/** Waits for the random time after which a test kills a process, or breaks what it uses. */
export function pause(ms: number): Promise<void> {
  return new Promise((resolve) => setTimeout(resolve, ms));
}
