import type { Point } from "../fleets/metropolis.ts";
import { percentile } from "../servers/open-load.ts";
import type { Contender } from "./contender.ts";
import { readCpuSeconds } from "./cpu.ts";

/** What a server did in some seconds of questions. */
export interface Turn {
  readonly answersPerSecond: number;
  readonly p50Ms: number;
  readonly p99Ms: number;
  /** Processors that the server kept busy; null where the system doesn't tell. */
  readonly serverCores: number | null;
  /** The same of this process: close to 1 says that the client is what limits. */
  readonly clientCores: number;
  /** Processor time that asking and reading an answer took here. */
  readonly clientMicroseconds: number;
}

export interface TurnOptions {
  readonly contender: Contender;
  readonly connections: number;
  readonly seconds: number;
  next(): Point;
}

/**
 * Closed loop: each connection asks its next question when the last is answered. Connecting takes no part, nor does
 * a first question of each, with which clients prepare what they ask.
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
