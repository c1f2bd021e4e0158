import { basename, delimiter, dirname, join } from "node:path";

/* Programs that tests start and npm doesn't have. */

const PATH = (process.env.PATH ?? "").split(delimiter).filter((folder) => folder !== "");

/**
 * A program's path; null if the machine has none. Brokers and proxies often lie in an `sbin`, which is on root's `PATH`
 * alone: the one beside each `bin` is searched too.
 */
export function findProgram(name: string): string | null {
  const beside = PATH.filter((folder) => basename(folder) === "bin").map((bin) => join(dirname(bin), "sbin"));
  return Bun.which(name, { PATH: [...PATH, ...beside].join(delimiter) });
}

/** Says in one line what is left out if the machine lacks the program; true if it has it. */
export function hasProgram(name: string, leftOut: string): boolean {
  const isThere = findProgram(name) !== null;
  if (!isThere) console.warn(`Left out: ${leftOut}, which need ${name}.`);
  return isThere;
}

/** The environment for scripts of ours that use what every Unix has: `od`, `tr`, `cat`, `mkfifo`. */
export const UNIX_ENVIRONMENT = { ...process.env, PATH: [...PATH, "/usr/bin", "/bin"].join(delimiter) };
