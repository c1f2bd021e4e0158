import { measureOpenLoad, percentile } from "../../servers/open-load.ts";
import { type CityOptions, createCity } from "../city.ts";
import { BATCH, movesOf } from "./moves.ts";

/*
 * Somebody who reports at a steady rate, in a process of its own: who asks beside it waits for no batch to be sent.
 */

/** Enough for a server that keeps up: a batch is acknowledged long before sixteen more are due. */
const CONNECTIONS = 16;

export interface Reporter {
  /** Sends batches at even distances; resolves once the last is acknowledged. */
  report(reportsPerSecond: number, seconds: number): Promise<Reported>;
  end(): Promise<void>;
}

export interface Reported {
  /** Acknowledged ones. */
  readonly reports: number;
  readonly reportsPerSecond: number;
  /** Of a batch, from when it was due. */
  readonly p99Ms: number;
  /** Of the last batch: its first device, and the time it carried. */
  readonly last: { readonly deviceId: string; readonly timestampMs: number };
}

export interface ReporterOptions {
  readonly city: CityOptions;
  readonly url: string;
  readonly key: string;
  readonly seed: number;
}

interface Order {
  readonly reportsPerSecond: number;
  readonly seconds: number;
}

export async function startReporter(
  options: ReporterOptions,
  launcher: readonly string[],
): Promise<Reporter> {
  let said = Promise.withResolvers<unknown>();
  const child = Bun.spawn([...launcher, process.execPath, import.meta.path, JSON.stringify(options)], {
    stdout: "inherit",
    stderr: "inherit",
    ipc: (message) => said.resolve(message),
    onExit: (_, code) => said.reject(new Error(`who reports ended with code ${code}`)),
  });
  await said.promise;
  return {
    async report(reportsPerSecond, seconds) {
      said = Promise.withResolvers();
      const order: Order = { reportsPerSecond, seconds };
      child.send(order);
      return (await said.promise) as Reported;
    },
    async end() {
      said.promise.catch(() => {}); // Its end is no fault.
      child.disconnect();
      await child.exited;
    },
  };
}

if (import.meta.main) live(JSON.parse(process.argv[2]!) as ReporterOptions);

function live({ city, url, key, seed }: ReporterOptions): void {
  const moves = movesOf(createCity(city), url, key, seed);
  process.on("message", async ({ reportsPerSecond, seconds }: Order) => {
    const startMs = performance.now();
    const endMs = startMs + seconds * 1000;
    const latenciesMs = await measureOpenLoad({
      url,
      requestsPerSecond: reportsPerSecond / BATCH,
      connections: CONNECTIONS,
      next: () => moves.next(Date.now()),
      goesOn: () => performance.now() < endMs,
    });
    const reports = latenciesMs.length * BATCH;
    const reported: Reported = {
      reports,
      reportsPerSecond: reports / ((performance.now() - startMs) / 1000),
      p99Ms: percentile(latenciesMs, 0.99),
      last: moves.last(),
    };
    process.send!(reported);
  });
  process.send!("ready");
}
