import process from "node:process";
import type { Terminal } from "../../runtime/process.ts";

/** A number with thousands separators: `1,234`. */
export function formatCount(value: number): string {
  return value.toLocaleString("en");
}

/** A number with its noun: `1 day`, `1,234 days`. */
export function countOf(value: number, noun: string): string {
  return `${formatCount(value)} ${noun}${value === 1 ? "" : "s"}`;
}

/** Rows in columns as wide as their widest cell. Columns whose header begins with `>` are right-aligned. */
export function formatTable(header: readonly string[], rows: readonly (readonly string[])[]): string {
  const isRight = header.map((name) => name.startsWith(">"));
  const titles = header.map((name) => name.replace(/^>/, ""));
  const widths = titles.map((title, c) => Math.max(title.length, ...rows.map((row) => row[c]!.length)));
  const line = (row: readonly string[]) =>
    row
      .map((cell, c) => (isRight[c] ? cell.padStart(widths[c]!) : cell.padEnd(widths[c]!)))
      .join("  ")
      .trimEnd();
  return `${[titles, ...rows].map(line).join("\n")}\n`;
}

const COLUMNS_DEFAULT = 80; // For terminals that don't say how wide they are.

/** Width of the terminal that standard output goes to; null if it goes to none. */
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

/** Prints why a command does nothing; returns its exit code. */
export function refuse(reason: string, terminal: Pick<Terminal, "error">): number {
  terminal.error(`${reason}\n`);
  return 1;
}
