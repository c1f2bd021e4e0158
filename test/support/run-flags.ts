import type { Result } from "../../src/lib/result.ts";
import { RUNTIMES, type Runtime } from "./server-process.ts";

/** Parsers of flags that long runs share. */

/** Parses `bun`, `deno` or `both`; empty for any other name. */
export function runtimesOf(name: string): readonly Runtime[] {
  return name === "both" ? RUNTIMES : RUNTIMES.filter((runtime) => runtime.name.toLowerCase() === name);
}

/** Parses an integer above 0; null for any other text. */
export function countOf(text: string | null, otherwise: number): number | null {
  if (text === null) return otherwise;
  return /^\d{1,9}$/.test(text) && Number(text) > 0 ? Number(text) : null;
}

/** Runs a parsed command and returns its exit code: 2 for a usage error, which it prints. */
export async function runCommandLine<Command extends { readonly kind: string }>(
  parsed: Result<Command, string>,
  help: string,
  run: (command: Exclude<Command, { readonly kind: "help" }>) => Promise<number>,
): Promise<number> {
  if (!parsed.ok) {
    console.error(parsed.error);
    return 2;
  }
  if (isRun(parsed.value)) return run(parsed.value);
  process.stdout.write(help);
  return 0;
}

function isRun<Command extends { readonly kind: string }>(
  command: Command,
): command is Exclude<Command, { readonly kind: "help" }> {
  return command.kind !== "help";
}
