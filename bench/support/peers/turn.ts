import type { Point } from "../fleets/metropolis.ts";
import { percentile } from "../servers/open-load.ts";
import type { Contender } from "./contender.ts";
import { readCpuSeconds } from "./cpu.ts";

/** The result of some seconds of queries. */
export interface Turn {
  readonly answersPerSecond: number;
  readonly p50Ms: number;
  readonly p99Ms: number;
  /** The number of cores that the server used; null if unknown. */
  readonly serverCores: number | null;
  /** The number of cores that this process used: close to 1 means that the client is the limit. */
  readonly clientCores: number;
  /** Processor time for sending a query and reading its answer. */
  readonly clientMicroseconds: number;
}

export interface TurnOptions {
  readonly contender: Contender;
  readonly connections: number;
  readonly seconds: number;
  next(): Point;
}

/**
 * A closed loop: each connection sends its next query after the last answer. Connecting is not measured, nor is a first
 * query of each connection, which clients use to prepare statements.
 */
export async function takeTurn({ contender, connections, seconds, next }: TurnOptions): Promise<Turn> {
  const opened = await Promise.all(Array.from({ length: connections }, () => contender.connect()));
  await Promise.all(opened.map((connection) => connection.ask(next())));
  const serverBefore = readCpuSeconds(contender.pid);
  const clientBefore = process.cpuUsage();
  const startMs = performance.now();
  const endMs = startMs + seconds * 1000;
  const latenciesMs: number[] = [];
  await Promise.all(
    opened.map(async (connection) => {
      while (performance.now() < endMs) {
        const askedMs = performance.now();
        await connection.ask(next());
        latenciesMs.push(performance.now() - askedMs);
      }
    }),
  );
  const elapsedSeconds = (performance.now() - startMs) / 1000;
  const client = process.cpuUsage(clientBefore);
  const serverAfter = readCpuSeconds(contender.pid);
  await Promise.all(opened.map((connection) => connection.close()));
  latenciesMs.sort((a, b) => a - b);
  const answers = latenciesMs.length;
  return {
    p50Ms: percentile(latenciesMs, 0.5),
    p99Ms: percentile(latenciesMs, 0.99),
    answersPerSecond: answers / elapsedSeconds,
    serverCores:
      serverBefore === null || serverAfter === null ? null : (serverAfter - serverBefore) / elapsedSeconds,
    clientCores: (client.user + client.system) / 1e6 / elapsedSeconds,
    clientMicroseconds: (client.user + client.system) / answers,
  };
}
