import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";

const MAIN = join(import.meta.dir, "../../../src/main.ts");

export interface Finished {
  readonly code: number;
  readonly out: string;
  readonly error: string;
}

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

export function runCli(...args: string[]): Promise<Finished> {
  return finished(startCli(args));
}

/** A directory that is gone when the work is done. */
export async function withDirectory(work: (path: string) => Promise<void>): Promise<void> {
  const path = mkdtempSync(join(tmpdir(), "wherehouse-cli-"));
  try {
    await work(path);
  } finally {
    rmSync(path, { recursive: true, force: true });
  }
}
