/** Waits for something that other processes do. */
export async function until(isTrue: () => boolean | Promise<boolean>, waitMsMax = 30_000): Promise<void> {
  const untilMs = performance.now() + waitMsMax;
  while (!(await isTrue())) {
    if (performance.now() > untilMs) throw new Error(`Not within ${waitMsMax} ms: ${isTrue}`);
    await Bun.sleep(10);
  }
}
