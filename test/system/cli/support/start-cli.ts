import { join } from "node:path";
import type { Finished } from "../../../unit/cli/support/run-cli.ts";

/** The command line in processes of their own, for exit codes, pipes and signals. */

const MAIN = join(import.meta.dir, "../../../../src/main.ts");

export function startCli(args: readonly string[], input: Blob | null = null) {
  return Bun.spawn([process.execPath, MAIN, ...args], {
    stdin: input ?? "ignore",
    stdout: "pipe",
    stderr: "pipe",
    env: {
      ...process.env,
      WHEREHOUSE_DATA_DIR: undefined,
      WHEREHOUSE_PORT: undefined,
      WHEREHOUSE_KEY: undefined,
    },
  });
}

export async function finished(
  child: Pick<ReturnType<typeof startCli>, "stdout" | "stderr" | "exited">,
): Promise<Finished> {
  const [out, error, code] = await Promise.all([
    new Response(child.stdout).text(),
    new Response(child.stderr).text(),
    child.exited,
  ]);
  return { code, out, error };
}

/** Runs a command to its end in a process of its own. */
export function runProcess(...args: string[]): Promise<Finished> {
  return finished(startCli(args));
}
