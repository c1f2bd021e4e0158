import { openConnection } from "./connection.ts";
import type { Contender } from "./contender.ts";
import { readCpuSeconds } from "./cpu.ts";

/** What a server did in some seconds of questions. */
export interface Turn {
  readonly answersPerSecond: number;
  readonly answerBytes: number;
  /** Processors that the server kept busy; null where the system doesn't tell. */
  readonly serverCores: number | null;
  /** The same of this process: close to 1 says that the client is what limits. */
  readonly clientCores: number;
}

export interface TurnOptions {
  readonly contender: Contender;
  readonly connections: number;
  readonly seconds: number;
  next(): Uint8Array;
}

/** Closed loop: each connection asks its next question when the last is answered. Connecting takes no part. */
export async function takeTurn({ contender, connections, seconds, next }: TurnOptions): Promise<Turn> {
  const { port, pid, protocol } = contender;
  const opened = await Promise.all(Array.from({ length: connections }, () => openConnection(port, protocol)));
  const serverBefore = readCpuSeconds(pid);
  const clientBefore = process.cpuUsage();
  const startMs = performance.now();
  const endMs = startMs + seconds * 1000;
  let answers = 0;
  let bytes = 0;
  await Promise.all(
    opened.map(async (connection) => {
      while (performance.now() < endMs) {
        const size = await connection.ask(next());
        bytes += size;
        answers++;
      }
    }),
  );
  const elapsedSeconds = (performance.now() - startMs) / 1000;
  const client = process.cpuUsage(clientBefore);
  const serverAfter = readCpuSeconds(pid);
  await Promise.all(opened.map((connection) => connection.close()));
  return {
    answersPerSecond: answers / elapsedSeconds,
    answerBytes: bytes / answers,
    serverCores:
      serverBefore === null || serverAfter === null ? null : (serverAfter - serverBefore) / elapsedSeconds,
    clientCores: (client.user + client.system) / 1e6 / elapsedSeconds,
  };
}
