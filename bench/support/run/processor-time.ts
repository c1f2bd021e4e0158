/**
 * Processor time of this process in microseconds, unaffected by other processes. A thread's time would be counted in
 * ticks of 4 ms.
 */
export function processorMicros(): number {
  const { user, system } = process.cpuUsage();
  return user + system;
}
