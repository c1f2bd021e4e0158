import { answerParent, childOptions, startChild } from "../../run/child.ts";
import { measureOpenLoad, percentile } from "../../servers/open-load.ts";
import { type CityOptions, createCity } from "../city.ts";
import { BATCH, movesOf } from "./moves.ts";

/* A process that sends reports at a steady rate, so that the querying process is not delayed. */

/** Enough for a server that acknowledges a batch before eight more are due, which is 40 ms. */
const CONNECTIONS = 8;

export interface Reporter {
  /** Sends batches at a fixed rate; resolves once the last is acknowledged. */
  report(reportsPerSecond: number, seconds: number): Promise<Reported>;
  end(): Promise<void>;
}

export interface Reported {
  /** The number of acknowledged reports. */
  readonly reports: number;
  readonly reportsPerSecond: number;
  /** The latency of batches from when they were due. */
  readonly p99Ms: number;
  /** The first device of the last batch, and its time. */
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
  const child = await startChild<Order, Reported>({ path: import.meta.path, options, launcher });
  return {
    report: (reportsPerSecond, seconds) => child.ask({ reportsPerSecond, seconds }),
    end: () => child.end(),
  };
}

if (import.meta.main) live(childOptions());

function live({ city, url, key, seed }: ReporterOptions): void {
  const moves = movesOf(createCity(city), url, key, seed);
  answerParent("ready", async ({ reportsPerSecond, seconds }: Order): Promise<Reported> => {
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
    return {
      reports,
      reportsPerSecond: reports / ((performance.now() - startMs) / 1000),
      p99Ms: percentile(latenciesMs, 0.99),
      last: moves.last(),
    };
  });
}
