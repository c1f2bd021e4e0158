import { existsSync, readFileSync, rmSync } from "node:fs";
import { join } from "node:path";
import {
  openPlace,
  type Place,
  RUNTIMES,
  type Runtime,
  type ServerProcess,
  startServing,
} from "../../../support/server-process.ts";
import { until } from "../../../support/until.ts";

/** One node: a process over a directory, which can be ended and started again. */
export interface ClusterNode {
  readonly runtime: Runtime["name"];
  readonly place: Place;
  /** The same after each start. */
  readonly url: string;
  readonly isUp: boolean;
  /** What it said of an end that nobody asked for; null while there was none. */
  readonly failure: string | null;
  /** Starts it, and waits for its address. */
  start(): Promise<void>;
  kill(): Promise<void>;
  /** Ends it, whatever state it is in, for good. */
  close(): Promise<void>;
  signal(signal: "SIGSTOP" | "SIGCONT"): void;
  /** In order. */
  stop(): Promise<void>;
  /** Once it has all that it needs, and does not lag. */
  ready(waitMsMax: number): Promise<void>;
}

export interface NodeOptions {
  readonly runtime: Runtime;
  /** `HOST:PORT` of each, as this node reaches them. */
  readonly servers: readonly string[];
  readonly stream: string;
  readonly flags?: readonly string[];
}

export function createNode({ runtime, servers, stream, flags = [] }: NodeOptions): ClusterNode {
  const place = openPlace();
  let process: ServerProcess | null = null;
  let url = "";
  let failure: string | null = null;
  let isClosed = false;
  const args = ["--log", `nats://${servers.join(",")}`, "--stream", stream, ...flags];

  async function end(signal: "SIGKILL" | "SIGTERM"): Promise<void> {
    const ending = process;
    process = null;
    ending?.kill(signal);
    await ending?.ended;
  }

  return {
    runtime: runtime.name,
    place,
    get url() {
      return url;
    },
    get isUp() {
      return process !== null;
    },
    get failure() {
      return failure;
    },
    async start() {
      if (isClosed) throw new Error("The node was closed.");
      failure = null;
      const port = url === "" ? "0" : new URL(url).port;
      const started = await startServing(runtime, place, [...args, "--port", port]);
      if (isClosed) started.kill("SIGKILL");
      process = started;
      url = started.url;
      void started.ended.then(({ code, error }) => {
        if (process !== started) return;
        process = null;
        failure = `it ended by itself with ${code}: ${error.slice(-2000)}`;
      });
    },
    kill: () => end("SIGKILL"),
    async close() {
      isClosed = true;
      process?.kill("SIGCONT");
      await end("SIGKILL");
    },
    signal: (signal) => process?.kill(signal),
    stop: () => end("SIGTERM"),
    async ready(waitMsMax) {
      const untilMs = performance.now() + waitMsMax;
      await until(async () => {
        if (failure !== null) throw new Error(failure);
        const answer = await fetch(`${url}/ready`, { signal: AbortSignal.timeout(2000) }).catch(String);
        if (typeof answer !== "string" && answer.ok) return true;
        const told = typeof answer === "string" ? answer : await answer.text();
        if (performance.now() > untilMs) throw new Error(`The node ${url} is not ready: ${told}`);
        return false;
      });
    },
  };
}

/** Two of three on Bun, one on Deno. */
export function runtimeOf(index: number): Runtime {
  return RUNTIMES[index % 3 === 2 ? 1 : 0]!;
}

/** The key that the first node of a cluster makes. */
export function firstKeyOf(nodes: readonly ClusterNode[]): string {
  const paths = nodes.map(({ place }) => join(place.dataDir, "first-key"));
  const path = paths.find((each) => existsSync(each));
  if (path === undefined) throw new Error("No node made a first key.");
  return readFileSync(path, "utf8").trim();
}

export function removePlace({ directory }: Place): void {
  rmSync(directory, { recursive: true, force: true });
}
