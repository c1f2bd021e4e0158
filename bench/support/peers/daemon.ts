import { accessSync, constants, mkdtempSync, readFileSync, rmSync } from "node:fs";
import { createServer } from "node:net";
import { tmpdir } from "node:os";
import { delimiter, join } from "node:path";
import { fail, ok, type Result } from "../../../src/lib/result.ts";

/* Servers of other projects, started on a free port of this machine and taken away again. */

const START_MS_MAX = 20_000;
const STOP_MS_MAX = 5000;

/** A server of somebody else's, on this machine alone, with a directory that goes with it. */
export interface Daemon {
  readonly port: number;
  readonly pid: number;
  stop(): Promise<void>;
}

export interface DaemonOptions {
  readonly directory: string;
  readonly argv: (port: number) => readonly string[];
  /** How it is told to stop without waiting for its clients. */
  readonly stopSignal: "SIGTERM" | "SIGINT";
  /** Throws while the server doesn't answer yet. */
  greet(port: number): Promise<void>;
}

/** Starts a server on a free port. One that doesn't start is told in a line, and its directory is gone. */
export async function startDaemon(options: DaemonOptions): Promise<Result<Daemon, string>> {
  const { directory, argv, stopSignal, greet } = options;
  const port = await findFreePort();
  const log = join(directory, "server.log");
  const child = Bun.spawn([...argv(port)], {
    stdin: "ignore",
    stdout: Bun.file(log),
    stderr: Bun.file(log),
    cwd: directory,
  });

  async function stop(): Promise<void> {
    child.kill(stopSignal);
    const impatience = setTimeout(() => child.kill("SIGKILL"), STOP_MS_MAX);
    await child.exited;
    clearTimeout(impatience);
    forget();
    removeDirectory(directory);
  }

  const forget = stopWhenInterrupted(stop);
  const endMs = performance.now() + START_MS_MAX;
  while (true) {
    try {
      await greet(port);
      return ok({ port, pid: child.pid, stop });
    } catch (error) {
      if (child.exitCode === null && performance.now() < endMs) {
        await Bun.sleep(20);
        continue;
      }
      const said = readFileSync(log, "utf8").trim().split("\n").slice(-3).join(" / ");
      await stop();
      return fail(said === "" ? String(error) : said);
    }
  }
}

/** The program's path, if there is one in the `PATH` or in one of these directories. */
export function findProgram(name: string, elsewhere: readonly string[] = []): string | null {
  const directories = [...(process.env.PATH ?? "").split(delimiter), ...elsewhere];
  const paths = directories.filter((directory) => directory !== "").map((directory) => join(directory, name));
  return paths.find(isExecutable) ?? null;
}

export function makeDirectory(name: string): string {
  return mkdtempSync(join(tmpdir(), `wherehouse-${name}-`));
}

export function removeDirectory(directory: string): void {
  rmSync(directory, { recursive: true, force: true, maxRetries: 5, retryDelay: 100 });
}

function isExecutable(path: string): boolean {
  try {
    accessSync(path, constants.X_OK);
    return true;
  } catch {
    return false;
  }
}

function findFreePort(): Promise<number> {
  return new Promise((resolve, reject) => {
    const server = createServer();
    server.on("error", reject);
    server.listen(0, "127.0.0.1", () => {
      const address = server.address();
      const port = typeof address === "object" && address !== null ? address.port : 0;
      server.close(() => resolve(port));
    });
  });
}

const running = new Set<() => Promise<void>>();

/** Stops a server also where the bench is interrupted; the function returned takes that back. */
function stopWhenInterrupted(stop: () => Promise<void>): () => void {
  if (running.size === 0) for (const signal of ["SIGINT", "SIGTERM"] as const) process.on(signal, leave);
  running.add(stop);
  return () => {
    running.delete(stop);
    if (running.size === 0) for (const signal of ["SIGINT", "SIGTERM"] as const) process.off(signal, leave);
  };
}

async function leave(): Promise<void> {
  await Promise.all([...running].map((stop) => stop()));
  process.exit(130);
}
