import process from "node:process";

/*
 * How wide the terminal is.
 */

const COLUMNS_DEFAULT = 80; // Terminals that don't say how wide they are.

/** Width of the terminal that standard output goes to; null where it goes to none. */
export function outColumns(): number | null {
  return columnsOf(process.stdout);
}

/** The same of standard error. */
export function errorColumns(): number | null {
  return columnsOf(process.stderr);
}

function columnsOf({ isTTY, columns }: Pick<typeof process.stdout, "isTTY" | "columns">): number | null {
  return isTTY === true ? columns || COLUMNS_DEFAULT : null;
}
