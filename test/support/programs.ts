import { basename, delimiter, dirname, join } from "node:path";

/* Finds programs that tests use and npm does not provide. */

const PATH = (process.env.PATH ?? "").split(delimiter).filter((folder) => folder !== "");

/**
 * A program's path, or null. Brokers and proxies are often in an `sbin` folder that only root's `PATH` has, so the one
 * beside each `bin` is searched too.
 */
export function findProgram(name: string): string | null {
  const beside = PATH.filter((folder) => basename(folder) === "bin").map((bin) => join(dirname(bin), "sbin"));
  return Bun.which(name, { PATH: [...PATH, ...beside].join(delimiter) });
}

/** Whether the machine has the program; otherwise prints a line that names the skipped tests. */
export function hasProgram(name: string, leftOut: string): boolean {
  const isThere = findProgram(name) !== null;
  if (!isThere) console.warn(`Left out: ${leftOut}, which need ${name}.`);
  return isThere;
}

/** The environment for scripts that use standard Unix tools: `od`, `tr`, `cat`, `mkfifo`. */
export const UNIX_ENVIRONMENT = { ...process.env, PATH: [...PATH, "/usr/bin", "/bin"].join(delimiter) };
