import process from "node:process";

/*
 * How wide the terminal is.
 */

const COLUMNS_DEFAULT = 80; // Terminals that don't say how wide they are.

/** Width of the terminal that standard error goes to; null where it goes to none. */
export function errorColumns(): number | null {
  return process.stderr.isTTY === true ? process.stderr.columns || COLUMNS_DEFAULT : null;
}
