import process from "node:process";
import { fileURLToPath } from "node:url";
import type { OpenStream } from "../cluster/stream/stream.ts";
import { restBetweenTurns, systemTimers, type Timers } from "../lib/schedule/timers.ts";
import type { ConnectBroker } from "./broker.ts";
import { listenOnBun } from "./bun-listen.ts";
import { listenOnDeno } from "./deno-listen.ts";
import type { Files } from "./files.ts";
import type { StartHelper } from "./helper/helper.ts";
import { startHelper } from "./helper/spawn-helper.ts";
import type { Inputs } from "./inputs.ts";
import type { Listen } from "./listen.ts";
import type { AcquireLock } from "./lock.ts";
import { loadMqttBroker } from "./mqtt-broker.ts";
import { createNodeFiles } from "./node-files.ts";
import { createNodeInputs } from "./node-inputs.ts";
import { exitOnCrash, stopRequested } from "./process.ts";
import { readSecretLine } from "./secret-input.ts";
import { acquireSqliteLock } from "./sqlite-lock.ts";
import { createStripTypes, type StripTypes } from "./strip-types.ts";
import { collectGarbage, type ProcessUsage } from "./usage.ts";

/** What the program needs of the machine; tests pass another. */
export interface Platform {
  readonly files: Files;
  readonly inputs: Inputs;
  readonly acquireLock: AcquireLock;
  readonly startHelper: StartHelper;
  readonly listen: Listen;
  /** What connections to brokers are made with; it takes a moment. */
  loadBroker(): Promise<ConnectBroker>;
  /** What speaks to the servers of a stream is loaded for those who have one. */
  readonly openStream: OpenStream;
  readonly pid: number;
  /** Resolves with the first request to stop the process. */
  stopRequested(): Promise<unknown>;
  /** Reports an error that nothing caught, then ends the process; returns a function that does so for a caught one. */
  exitOnCrash(tell: (error: unknown) => void): (error: unknown) => never;
  /** When a server looks for what commands have changed in its directory. */
  readonly timers: Timers;
  /** Variables, some of which are secrets. */
  readonly environment: Readonly<Record<string, string | undefined>>;
  usage(): ProcessUsage;
  /** Frees what nobody holds any more, where the runtime can be asked to. It stops everything meanwhile. */
  collectGarbage(): void;
  /** The first line of standard input; `null` where there is none. Of a terminal, what is typed is not shown. */
  readSecretLine(ask: () => void, end: () => void): Promise<string | null>;
  /** A file of an installed package, as `import.meta.resolve` names it. */
  readAsset(specifier: string): Promise<Uint8Array>;
  readonly stripTypes: StripTypes;
}

/** The machine itself, on whichever runtime this is. */
export function createPlatform(): Platform {
  const files = createNodeFiles();
  const isDeno = "Deno" in globalThis;
  // Deno 2.9 polls sockets in every 61st turn at most while each turn asks for the next: 0.3 s where they take 5 ms.
  if (isDeno) restBetweenTurns();
  return {
    files,
    inputs: createNodeInputs(),
    acquireLock: acquireSqliteLock,
    startHelper,
    listen: isDeno ? listenOnDeno : listenOnBun,
    loadBroker: loadMqttBroker,
    openStream: async (options) => (await import("../cluster/stream/nats-stream.ts")).openNatsStream(options),
    pid: process.pid,
    stopRequested,
    exitOnCrash,
    timers: systemTimers,
    environment: process.env,
    usage: processUsage,
    collectGarbage,
    readSecretLine,
    stripTypes: createStripTypes(),
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
