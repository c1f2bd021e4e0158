import process from "node:process";
import type { Terminal } from "../../runtime/process.ts";

/*
 * How wide the terminal is.
 */

const COLUMNS_DEFAULT = 80; // Terminals that don't say how wide they are.

/** Width of the terminal that standard output goes to; null where it goes to none. */
export function outColumns({ outIsTerminal }: Pick<Terminal, "outIsTerminal">): number | null {
  return outIsTerminal ? columnsOf(process.stdout) : null;
}

/** Width of the terminal that standard error goes to; null if it goes to none. */
export function errorColumns({ errorIsTerminal }: Pick<Terminal, "errorIsTerminal">): number | null {
  return errorIsTerminal ? columnsOf(process.stderr) : null;
}

function columnsOf({ columns }: Pick<typeof process.stdout, "columns">): number {
  return columns || COLUMNS_DEFAULT;
}
