/** What the process takes of the machine. */
export interface ProcessUsage {
  /** Memory that is in use now, with what libraries hold. */
  readonly residentBytes: number;
  /** Objects of the runtime's own heap, those that wait for the collector among them. */
  readonly heapUsedBytes: number;
  /** Of all threads, since the start. */
  readonly cpuSeconds: number;
  /** Unix ms. */
  readonly startedMs: number;
}
