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

/** What is used of Bun, declared here so that Deno's type check can read this file too. */
declare const Bun: { gc(waits: boolean): void } | undefined;

/**
 * Frees what nobody holds any more, and with it what libraries hold for it, of which a runtime knows nothing. Deno
 * offers no such thing. It stops everything for some tens of milliseconds.
 */
export function collectGarbage(): void {
  if (typeof Bun !== "undefined") Bun.gc(true);
}
