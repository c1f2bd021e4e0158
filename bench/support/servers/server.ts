import { mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { bunForServer } from "../run/profiling.ts";

/* Servers in separate processes, which end with the bench: ours, and the bare control. */

const ROOT = join(import.meta.dir, "../../..");

export interface ServerProcess {
  readonly url: string;
  readonly pid: number;
  stop(): Promise<void>;
}

export interface WherehouseProcess extends ServerProcess {
  readonly key: string;
  readonly dataDir: string;
}

/**
 * Starts Wherehouse on a free port with a temporary directory. `launcher` is a command prefix, e.g. to assign a core;
 * `flags` are more options of `serve`.
 */
export async function startWherehouse(
  dataDir = mkdtempSync(join(tmpdir(), "wherehouse-bench-")),
  launcher: readonly string[] = [],
  flags: readonly string[] = [],
): Promise<WherehouseProcess> {
  const words = ["src/main.ts", "serve", "--port", "0", "--data-dir", dataDir, ...flags];
  const server = await startProcess([...launcher, ...bunForServer(), ...words]);
  while ((await fetch(`${server.url}/ready`)).status !== 200) await Bun.sleep(5);
  const key = readFileSync(join(dataDir, "first-key"), "utf8").trim();
  return {
    ...server,
    key,
    dataDir,
    async stop() {
      await server.stop();
      rmSync(dataDir, { recursive: true });
    },
  };
}

/** Starts `bench/support/servers/bare-server.ts` with these arguments. */
export function startBareServer(...args: readonly string[]): Promise<ServerProcess> {
  return startProcess(bareServerCommand(...args));
}

export function bareServerCommand(...args: readonly string[]): string[] {
  return [process.execPath, "bench/support/servers/bare-server.ts", ...args];
}

/** Starts a program that prints its address when it listens; `variables` are added to the environment. */
export async function startProcess(
  argv: readonly string[],
  variables: Readonly<Record<string, string>> = {},
): Promise<ServerProcess> {
  const env = { ...process.env, ...variables };
  const child = Bun.spawn([...argv], { cwd: ROOT, env, stdout: "pipe", stderr: "inherit" });
  let said = "";
  for await (const bytes of child.stdout) {
    said += new TextDecoder().decode(bytes);
    const url = /http:\/\/[\d.]+:\d+/.exec(said)?.[0];
    if (url === undefined || !said.endsWith("\n")) continue;
    return {
      url,
      pid: child.pid,
      async stop() {
        child.kill();
        await child.exited;
      },
    };
  }
  throw new Error(`the server ended without an address: ${said}`);
}
