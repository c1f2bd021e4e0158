/**
 * The longest turn of the event loop during some work, in processor time of this thread, since a clock can't tell work
 * from waiting for a core.
 */
export async function longestTurnMs(work: () => Promise<unknown>): Promise<number> {
  let longestMs = 0;
  let isOver = false;
  let before = process.threadCpuUsage();
  const look = () => {
    const used = process.threadCpuUsage(before);
    longestMs = Math.max(longestMs, (used.user + used.system) / 1000);
    before = process.threadCpuUsage();
    if (!isOver) setImmediate(look);
  };
  setImmediate(look);
  await work();
  isOver = true;
  await Bun.sleep(1);
  return longestMs;
}
