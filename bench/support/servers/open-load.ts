import { type HttpClient, openHttpClient } from "./http-client.ts";

/* Requests at a fixed rate, whether or not a server keeps up, and how long each waited. */

export interface OpenLoadOptions {
  readonly url: string;
  readonly requestsPerSecond: number;
  /** Connections: a request that finds none free waits for one, and its wait counts. */
  readonly connections: number;
  /** The next request, head and body as they go over the wire. */
  next(): Uint8Array;
  /** Asked before each request; once it says no, what is under way is awaited. */
  goesOn(): boolean;
  /** Looks at the clock all the time, which takes a core: a sleep wakes up to a millisecond late. */
  readonly isWatchful?: boolean;
  /** The clock in milliseconds; defaults to the system's. Another one needs `isWatchful`. */
  readonly nowMs?: () => number;
}

/**
 * Open-loop load: requests become due at a fixed rate, whatever became of those before. Latencies, in
 * milliseconds and sorted, count from when a request was due, so that a server that stalls is charged for every
 * request that it kept waiting, sent or not.
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
    const client = free.shift(); // In turn: a server closes connections that idle for long.
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

/** Lets answers come in. */
function turnOfLoop(): Promise<void> {
  return new Promise((resolve) => setImmediate(resolve));
}

/** The value below which this share of the sorted values lies. */
export function percentile(sorted: readonly number[], share: number): number {
  return sorted[Math.min(sorted.length - 1, Math.floor(sorted.length * share))]!;
}
