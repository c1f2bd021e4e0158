import { accessSync, constants, mkdtempSync, readFileSync, rmSync } from "node:fs";
import { createServer } from "node:net";
import { tmpdir } from "node:os";
import { delimiter, join } from "node:path";
import { fail, ok, type Result } from "../../../src/lib/result.ts";

/* Servers of other projects, started on a free local port and removed afterwards. */

const START_MS_MAX = 20_000;
const STOP_MS_MAX = 5000;

/** A local server of another project, with a temporary directory. */
export interface Daemon {
  readonly port: number;
  readonly pid: number;
  stop(): Promise<void>;
}

export interface DaemonOptions {
  readonly directory: string;
  readonly argv: (port: number) => readonly string[];
  /** The signal that stops it without waiting for clients. */
  readonly stopSignal: "SIGTERM" | "SIGINT";
  /** Throws if the server does not answer yet. */
  greet(port: number): Promise<void>;
}

/** Starts a server on a free port. On failure returns a line, and removes its directory. */
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

/** Finds a program in the `PATH` or in these directories. */
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

/** Stops a server if the bench is interrupted; the result cancels that. */
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
