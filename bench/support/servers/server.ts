import { mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { bunForServer } from "../run/profiling.ts";

/* Servers in processes of their own, which end with the bench: ours, and the bare one that is its control. */

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
 * Wherehouse itself on a free port, in a process of its own, over a directory that goes with it. `launcher` are words
 * before the command, e.g. to give it a core, `flags` more of `serve`.
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

/** The control: `bench/support/servers/bare-server.ts` with these arguments. */
export function startBareServer(...args: readonly string[]): Promise<ServerProcess> {
  return startProcess(bareServerCommand(...args));
}

export function bareServerCommand(...args: readonly string[]): string[] {
  return [process.execPath, "bench/support/servers/bare-server.ts", ...args];
}

/**
 * A program that says its address in a line once it listens, in the project's folder; `variables` are added to ours.
 */
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
