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
import { copyNodeSqlite, openNodeSqlite } from "./node-sqlite.ts";
import { createPost, resolveBySystem } from "./post/node-post.ts";
import type { Post, ResolveName } from "./post/post.ts";
import { createProxiedPost } from "./post/proxied-post.ts";
import { exitOnCrash, stopRequested } from "./process.ts";
import { ownThreads, quietHelpers } from "./quiet-helpers.ts";
import { readSecretLine, readTypedLine } from "./secret-input.ts";
import type { CopySqlite, OpenSqlite } from "./sqlite.ts";
import { acquireSqliteLock } from "./sqlite-lock.ts";
import { createStripTypes, type StripTypes } from "./strip-types.ts";
import { collectGarbage, type ProcessUsage } from "./usage.ts";

/** What the program needs from the machine; tests pass a simulated one. */
export interface Platform {
  readonly files: Files;
  readonly inputs: Inputs;
  readonly acquireLock: AcquireLock;
  readonly openSqlite: OpenSqlite;
  readonly copySqlite: CopySqlite;
  /** Sends requests of webhooks. */
  readonly post: Post;
  /** Like `post`, through a proxy at this URL. */
  createProxiedPost(proxy: string): Post;
  readonly resolveName: ResolveName;
  readonly startHelper: StartHelper;
  readonly listen: Listen;
  /** Loads the MQTT client, which takes a moment. */
  loadBroker(): Promise<ConnectBroker>;
  /** Loads the NATS client only if it is called. */
  readonly openStream: OpenStream;
  readonly pid: number;
  /** Resolves with the first request to stop the process. */
  stopRequested(): Promise<unknown>;
  /** Reports an uncaught error, then ends the process; the result does the same for a caught error. */
  exitOnCrash(report: (error: unknown) => void): (error: unknown) => never;
  /** Timers for polling the files that commands change. */
  readonly timers: Timers;
  /** Some variables are secrets. */
  readonly environment: Readonly<Record<string, string | undefined>>;
  usage(): ProcessUsage;
  /** Runs the garbage collector if the runtime allows that. It blocks everything in the meantime. */
  collectGarbage(): void;
  /** Lets the runtime's own threads step back behind the one that answers. The result ends that. */
  quietHelpers(): () => void;
  /** The first line of standard input, or null. On a terminal, the input is not shown. */
  readSecretLine(ask: () => void, end: () => void): Promise<string | null>;
  /** A line that a person types, which the terminal shows; null if standard input is not a terminal. */
  readTypedLine(ask: () => void): Promise<string | null>;
  /** Reads a file of an installed package, named as for `import.meta.resolve`. */
  readAsset(specifier: string): Promise<Uint8Array>;
  readonly stripTypes: StripTypes;
}

/** The real machine, on either runtime. */
export function createPlatform(): Platform {
  const files = createNodeFiles();
  const isDeno = "Deno" in globalThis;
  // Deno 2.9 polls sockets only in every 61st turn while each turn schedules the next: requests take 0.3 s instead of 5
  // ms.
  if (isDeno) restBetweenTurns();
  return {
    files,
    inputs: createNodeInputs(),
    acquireLock: acquireSqliteLock,
    openSqlite: openNodeSqlite,
    copySqlite: copyNodeSqlite,
    post: createPost(),
    createProxiedPost,
    resolveName: resolveBySystem,
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
    quietHelpers: () => quietHelpers(ownThreads(), systemTimers),
    readSecretLine,
    readTypedLine,
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
