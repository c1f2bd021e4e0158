/**
 * Microseconds of processor that this process has used: others who want its core don't count. Those of a thread alone
 * would be counted in ticks of 4 ms.
 */
export function processorMicros(): number {
  const { user, system } = process.cpuUsage();
  return user + system;
}
