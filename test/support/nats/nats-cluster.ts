import { cpSync, mkdtempSync, readFileSync, renameSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { jetstreamManager } from "@nats-io/jetstream";
import { type ConnectionOptions, connect, type NatsConnection } from "@nats-io/transport-node";
import { until } from "../until.ts";
import { freePorts } from "./free-ports.ts";
import { findNatsServer, type NatsServer, startNatsServer } from "./nats-server.ts";

/** One nats-server, or three that replicate, on this machine. */
export interface NatsCluster {
  /** `HOST:PORT` of each. */
  readonly servers: readonly string[];
  readonly names: readonly string[];
  /** The server that leads a stream, or null. */
  leaderOf(stream: string): Promise<number | null>;
  /** The server of each consumer of a stream. */
  readerServersOf(stream: string): Promise<number[]>;
  /** Kills the server, as a power failure does. */
  kill(server: number): Promise<void>;
  /** Suspends the server, which keeps its connections. */
  stop(server: number): void;
  continue(server: number): void;
  /** Restarts a killed server on its data, optionally with another `sync_interval`. */
  restart(server: number, sync?: string): void;
  /** Copies the data of a killed server; the result restores it, after another kill. */
  keepStore(server: number): () => void;
  /** Waits until a stream has a leader and its replicas have caught up. */
  whole(stream: string): Promise<void>;
  /** Runs a request on the test's own connection, to any server that answers. */
  ask<Answer>(question: (connection: NatsConnection) => Promise<Answer>): Promise<Answer>;
  close(): Promise<void>;
}

export interface NatsClusterOptions {
  readonly count: 1 | 3;
  /** Further lines of each server's configuration. */
  readonly lines?: readonly string[];
  readonly sync?: string;
  /** The name for clients; it listens on 127.0.0.1. */
  readonly hostname?: string;
  /** The credentials of the test's own connections. */
  readonly login?: ConnectionOptions;
  /** Returns the port at which one server reaches another, such as a proxy's. Defaults to a direct connection. */
  readonly routeBy?: (from: number, to: number, port: number) => Promise<number>;
}

/** Resolves once streams can be created. */
export async function startNatsCluster(options: NatsClusterOptions): Promise<NatsCluster> {
  const { count, lines = [], sync = "always", hostname = "127.0.0.1", login = {} } = options;
  const { routeBy = async (_from, _to, port) => port } = options;
  const binary = findNatsServer();
  if (binary === null) throw new Error("There is no nats-server.");
  const directory = mkdtempSync(join(tmpdir(), "wherehouse-nats-"));
  const ports = await freePorts(2 * count);
  const clientPorts = ports.slice(0, count);
  const routePorts = ports.slice(count);
  const routes = await Promise.all(
    clientPorts.map(async (_, from) => {
      const others = routePorts.flatMap((port, to) => (to === from ? [] : [routeBy(from, to, port)]));
      return (await Promise.all(others)).map((port) => `nats-route://127.0.0.1:${port}`);
    }),
  );
  const names = clientPorts.map((_, index) => `n${index + 1}`);
  const startOne = (index: number, syncInterval = sync) =>
    startNatsServer({
      binary,
      name: names[index]!,
      directory: join(directory, names[index]!),
      port: clientPorts[index]!,
      sync: syncInterval,
      lines: [...lines, ...(count === 1 ? [] : [clusterLine(routePorts[index]!, routes[index]!)])],
    });
  const servers: NatsServer[] = names.map((_, index) => startOne(index));
  const urls = clientPorts.map((port) => `${hostname}:${port}`);
  const ask = <Answer>(question: (connection: NatsConnection) => Promise<Answer>) =>
    askAny({ ...login, servers: urls }, question);
  let isClosed = false;
  const cluster: NatsCluster = {
    servers: urls,
    names,
    ask,
    leaderOf: (stream) => leaderOf(ask, names, stream),
    readerServersOf: (stream) => readerServersOf(ask, names, stream),
    async kill(server) {
      servers[server]!.signal("SIGKILL");
      await servers[server]!.exited();
    },
    stop: (server) => servers[server]!.signal("SIGSTOP"),
    continue: (server) => servers[server]!.signal("SIGCONT"),
    restart(server, syncInterval) {
      if (isClosed) throw new Error("The servers were closed.");
      servers[server] = startOne(server, syncInterval);
    },
    keepStore(server) {
      const [store, copy] = ["store", "store-copy"].map((name) => join(directory, names[server]!, name));
      cpSync(store!, copy!, { recursive: true });
      return () => {
        rmSync(store!, { recursive: true });
        renameSync(copy!, store!);
      };
    },
    whole: (stream) => waitFor(`the stream ${stream} to be whole`, () => isWhole(ask, stream, count)),
    async close() {
      isClosed = true;
      for (const server of servers) server.signal("SIGKILL");
      await Promise.all(servers.map((server) => server.exited()));
      rmSync(directory, { recursive: true });
    },
  };
  try {
    await Promise.race([
      waitFor("the servers to take streams", () => ask((connection) => takesStreams(connection, count))),
      ...servers.map(async (server) => {
        await server.exited();
        throw new Error(`The server ${server.name} has ended.`);
      }),
    ]);
  } catch (error) {
    console.error(servers.map(({ log }) => readFileSync(log, "utf8").slice(-2000)).join("\n"));
    await cluster.close();
    throw error;
  }
  return cluster;
}

/**
 * Servers must use only the configured routes, and not those that they announce, which would bypass a proxy. Nothing
 * listens on port 9.
 */
function clusterLine(port: number, routes: readonly string[]): string {
  const address = `listen: "127.0.0.1:${port}", advertise: "127.0.0.1:9", no_advertise: true`;
  return `cluster { name: test, ${address}, routes: [${routes.join(", ")}] }`;
}

type Ask = NatsCluster["ask"];

async function askAny<Answer>(
  options: ConnectionOptions,
  question: (connection: NatsConnection) => Promise<Answer>,
): Promise<Answer> {
  const connection = await connect({ ...options, timeout: 1000, reconnect: false });
  try {
    return await question(connection);
  } finally {
    await connection.close();
  }
}

/** Checks that the servers have found one another, so that streams with replicas can be created. */
async function takesStreams(connection: NatsConnection, count: number): Promise<boolean> {
  const manager = await jetstreamManager(connection, { checkAPI: false, timeout: 1000 });
  await manager.streams.add({ name: "ready", subjects: ["ready"], num_replicas: count });
  return manager.streams.delete("ready");
}

async function leaderOf(ask: Ask, names: readonly string[], stream: string): Promise<number | null> {
  try {
    return await ask(async (connection) => {
      const manager = await jetstreamManager(connection, { checkAPI: false, timeout: 1000 });
      const { cluster } = await manager.streams.info(stream);
      const index = names.indexOf(cluster?.leader ?? "");
      return index < 0 ? null : index;
    });
  } catch {
    return null; // Without a leader there is no answer.
  }
}

function readerServersOf(ask: Ask, names: readonly string[], stream: string): Promise<number[]> {
  return ask(async (connection) => {
    const manager = await jetstreamManager(connection, { checkAPI: false });
    const servers: number[] = [];
    for await (const { cluster } of manager.consumers.list(stream))
      servers.push(names.indexOf(cluster?.leader ?? ""));
    return servers;
  });
}

function isWhole(ask: Ask, stream: string, count: number): Promise<boolean> {
  return ask(async (connection) => {
    const manager = await jetstreamManager(connection, { checkAPI: false, timeout: 1000 });
    const { cluster } = await manager.streams.info(stream);
    const replicas = cluster?.replicas ?? [];
    return (
      (cluster?.leader ?? "") !== "" &&
      replicas.length === count - 1 &&
      replicas.every(({ current, offline }) => current && offline !== true)
    );
  });
}

/** Waits for a condition; failures are retried. */
async function waitFor(what: string, isSo: () => Promise<boolean>, waitMsMax = 60_000): Promise<void> {
  const untilMs = performance.now() + waitMsMax;
  await until(async () => {
    let failure: unknown = null;
    try {
      if (await isSo()) return true;
    } catch (error) {
      failure = error;
    }
    if (performance.now() > untilMs) throw new Error(`Waited in vain for ${what}.`, { cause: failure });
    return false;
  });
}
