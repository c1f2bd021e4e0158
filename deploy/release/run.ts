import { spawnSync } from "node:child_process";
import { mkdirSync } from "node:fs";
import { join } from "node:path";
import process from "node:process";
import { ROOT } from "./assets.ts";

export interface RunOptions {
  /** Defaults to the project's folder. */
  readonly cwd?: string;
  readonly environment?: Readonly<Record<string, string>>;
}

/** Runs a program to its end. Returns its output; throws what it wrote if it fails. */
export function run(
  program: string,
  args: readonly string[],
  { cwd = ROOT, environment }: RunOptions = {},
): string {
  const { status, stdout, stderr, error } = spawnSync(program, args, {
    cwd,
    env: { ...process.env, ...environment },
    encoding: "utf8",
    maxBuffer: 64 * 1024 * 1024,
  });
  if (error !== undefined) throw new Error(`${program} can't be run: ${error.message}`, { cause: error });
  if (status !== 0) throw new Error(`${[program, ...args].join(" ")} failed: ${(stderr + stdout).trim()}`);
  return stdout;
}

/** Makes an npm package of a folder. Returns its path. */
export function packFolder(source: string, folder: string): string {
  mkdirSync(folder, { recursive: true });
  const args = ["pack", "--silent", "--ignore-scripts", "--pack-destination", folder];
  return join(folder, run("npm", args, { cwd: source }).trim());
}
