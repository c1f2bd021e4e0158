import { closeSync, existsSync, mkdirSync, openSync, writeFileSync } from "node:fs";
import { homedir } from "node:os";
import { join } from "node:path";

/** The real nats-server, with its data in a directory of its own. */

const VERSION_MIN = [2, 15];

/** The path where `.ci/run` installs it, and `npm run cluster` builds it. */
export const INSTALLED_NATS_SERVER = join(homedir(), ".cache/wherehouse/nats-server-2.15.2");

/** Null if there is none that supports syncing always. */
export function findNatsServer(): string | null {
  const places = [process.env.NATS_SERVER, INSTALLED_NATS_SERVER, Bun.which("nats-server")];
  return places.find((path) => path !== undefined && path !== null && isNewEnough(path)) ?? null;
}

/** Whether there is a nats-server; otherwise prints a line that names the skipped tests. */
export function hasNatsServer(leftOut: string): boolean {
  const isThere = findNatsServer() !== null;
  if (!isThere)
    console.warn(`Left out: ${leftOut}, which need nats-server ${VERSION_MIN.join(".")} or later.`);
  return isThere;
}

function isNewEnough(path: string): boolean {
  if (!existsSync(path)) return false;
  const { stdout } = Bun.spawnSync([path, "--version"]);
  const [, major = "0", minor = "0"] = /v(\d+)\.(\d+)/.exec(stdout.toString()) ?? [];
  const [majorMin = 0, minorMin = 0] = VERSION_MIN;
  return Number(major) > majorMin || (Number(major) === majorMin && Number(minor) >= minorMin);
}

export interface NatsServerOptions {
  readonly binary: string;
  readonly name: string;
  readonly directory: string;
  readonly port: number;
  /** Additional configuration lines. */
  readonly lines: readonly string[];
  /** The value of `sync_interval`. */
  readonly sync: string;
}

export interface NatsServer {
  readonly name: string;
  readonly pid: number;
  readonly port: number;
  /** The path of its log file. */
  readonly log: string;
  signal(signal: NodeJS.Signals): void;
  exited(): Promise<unknown>;
}

/** Starts the server on its directory; the caller checks whether it is ready. */
export function startNatsServer(options: NatsServerOptions): NatsServer {
  const { binary, name, directory, port, lines, sync } = options;
  mkdirSync(directory, { recursive: true });
  const path = join(directory, "server.conf");
  const config = [
    `server_name: "${name}"`,
    `listen: "127.0.0.1:${port}"`,
    "max_payload: 8MB",
    `jetstream { store_dir: "${join(directory, "store")}", sync_interval: ${sync}, max_file_store: 10GB }`,
    ...lines,
  ];
  writeFileSync(path, `${config.join("\n")}\n`);
  const log = join(directory, "server.log");
  const output = openSync(log, "a");
  const child = Bun.spawn([binary, "-c", path], {
    stdin: "ignore",
    stdout: output,
    stderr: output,
  });
  closeSync(output);
  return {
    name,
    pid: child.pid,
    port,
    log,
    signal: (signal) => child.kill(signal),
    exited: () => child.exited,
  };
}
