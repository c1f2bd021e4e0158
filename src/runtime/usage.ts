/** Resources that the process uses. */
export interface ProcessUsage {
  /** Resident memory, that of libraries included. */
  readonly residentBytes: number;
  /** The runtime's own heap, uncollected garbage included. */
  readonly heapUsedBytes: number;
  /** Processor time of all threads since the start. */
  readonly cpuSeconds: number;
  /** Unix ms. */
  readonly startedMs: number;
}

/** The parts of Bun used here, declared so that Deno's type check can read this file too. */
declare const Bun: { gc(waits: boolean): void } | undefined;

/** Runs the garbage collector, also for library memory, and blocks for tens of milliseconds. Deno has none. */
export function collectGarbage(): void {
  if (typeof Bun !== "undefined") Bun.gc(true);
}
