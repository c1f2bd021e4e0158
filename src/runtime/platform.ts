import process from "node:process";
import { fileURLToPath } from "node:url";
import { restBetweenTurns } from "../lib/schedule/next-turn.ts";
import type { ConnectBroker } from "./broker/broker.ts";
import { loadMqttBroker } from "./broker/mqtt-broker.ts";
import type { Files } from "./files.ts";
import type { Listen } from "./listen.ts";
import { listenOnBun } from "./listeners/bun-listen.ts";
import { listenOnDeno } from "./listeners/deno-listen.ts";
import type { AcquireLock } from "./lock.ts";
import { createNodeFiles } from "./node-files.ts";
import { type InputFile, openNodeInput } from "./node-input.ts";
import { readSecretLine } from "./secret-input.ts";
import { acquireSqliteLock } from "./sqlite-lock.ts";
import type { ProcessUsage } from "./usage.ts";

/** What the program needs of the machine; tests pass another. */
export interface Platform {
  readonly files: Files;
  readonly acquireLock: AcquireLock;
  readonly listen: Listen;
  /** What connections to brokers are made with; it takes a moment. */
  loadBroker(): Promise<ConnectBroker>;
  readonly pid: number;
  usage(): ProcessUsage;
  /** A file to import from, or standard input for `-`. Throws a `FileError` where it can't be opened. */
  openInput(path: string): Promise<InputFile>;
  /** The first line of standard input; `null` where there is none. Of a terminal, what is typed is not shown. */
  readSecretLine(ask: () => void, end: () => void): Promise<string | null>;
  /** A file of an installed package, as `import.meta.resolve` names it. */
  readAsset(specifier: string): Promise<Uint8Array>;
}

/** The machine itself, on whichever runtime this is. */
export function createPlatform(): Platform {
  const files = createNodeFiles();
  const isDeno = "Deno" in globalThis;
  // Deno 2.9 polls sockets in every 61st turn at most while each turn asks for the next: 0.3 s where they take 5 ms.
  if (isDeno) restBetweenTurns();
  return {
    files,
    acquireLock: acquireSqliteLock,
    listen: isDeno ? listenOnDeno : listenOnBun,
    loadBroker: loadMqttBroker,
    pid: process.pid,
    usage: processUsage,
    openInput: openNodeInput,
    readSecretLine,
    readAsset: (specifier) => files.read(fileURLToPath(import.meta.resolve(specifier))),
  };
}

function processUsage(): ProcessUsage {
  const { rss, heapUsed } = process.memoryUsage();
  const { user, system } = process.cpuUsage(); // Microseconds.
  return {
    residentBytes: rss,
    heapUsedBytes: heapUsed,
    cpuSeconds: (user + system) / 1e6,
    startedMs: performance.timeOrigin,
  };
}
