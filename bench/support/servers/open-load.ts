import { type HttpClient, openHttpClient } from "./http-client.ts";

/* Options of a load with a fixed rate. */

export interface OpenLoadOptions {
  readonly url: string;
  readonly requestsPerSecond: number;
  /** The number of connections: a request waits for a free one, and its wait counts. */
  readonly connections: number;
  /** Returns the next encoded request. */
  next(): Uint8Array;
  /** Checked before each request; false ends the load after pending requests. */
  goesOn(): boolean;
  /** Polls the clock, which uses a core: a sleep is up to a millisecond late. */
  readonly isWatchful?: boolean;
  /** The clock in milliseconds; defaults to the system clock. Another one needs `isWatchful`. */
  readonly nowMs?: () => number;
}

/**
 * Runs an open-loop load: requests become due at a fixed rate, independently of answers. The sorted latencies in
 * milliseconds count from when a request was due, so that a stalled server is charged for every delayed request.
 */
export async function measureOpenLoad(options: OpenLoadOptions): Promise<number[]> {
  const { url, requestsPerSecond, connections, next, goesOn, isWatchful = false } = options;
  const nowMs = options.nowMs ?? (() => performance.now());
  const free = await Promise.all(Array.from({ length: connections }, () => openHttpClient(url)));
  const clients = [...free];
  const waiting: number[] = [];
  const latenciesMs: number[] = [];
  const underWay = new Set<Promise<void>>();

  async function serve(client: HttpClient, dueMs: number): Promise<void> {
    await client.ask(next());
    latenciesMs.push(nowMs() - dueMs);
    const waitingMs = waiting.shift();
    if (waitingMs === undefined) free.push(client);
    else begin(client, waitingMs);
  }

  function begin(client: HttpClient, dueMs: number): void {
    const served = serve(client, dueMs).finally(() => underWay.delete(served));
    underWay.add(served);
  }

  const startMs = nowMs();
  for (let sent = 0; goesOn(); sent++) {
    const dueMs = startMs + (sent * 1000) / requestsPerSecond;
    while (nowMs() < dueMs) await (isWatchful ? turnOfLoop() : sleepUntil(dueMs));
    const client = free.shift(); // Connections are used in turn, since a server closes idle ones.
    if (client === undefined) waiting.push(dueMs);
    else begin(client, dueMs);
  }
  while (underWay.size > 0) await Promise.all(underWay);
  for (const client of clients) client.close();
  return latenciesMs.sort((a, b) => a - b);
}

function sleepUntil(dueMs: number): Promise<void> {
  return Bun.sleep(Math.max(0, dueMs - performance.now()));
}

/** Lets answers arrive. */
function turnOfLoop(): Promise<void> {
  return new Promise((resolve) => setImmediate(resolve));
}

/** The value below which this share of the sorted values is. */
export function percentile(sorted: readonly number[], share: number): number {
  return sorted[Math.min(sorted.length - 1, Math.floor(sorted.length * share))]!;
}
