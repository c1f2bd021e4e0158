import { parseArgs } from "node:util";
import { fail, ok, type Result } from "../../lib/result.ts";

/* Sorts the words of a command line into flags and arguments, for this program and for those of bench/ and test/. */

/** A flag without a value, with one value, or repeatable with a value each time. */
export type FlagKind = "switch" | "value" | "values";
export type FlagKinds = Readonly<Record<string, FlagKind>>;

/** The flags of a command line, by name without the dashes, and its arguments. */
export interface Flags {
  has(name: string): boolean;
  /** The value of a flag that is not repeatable; null if the flag is missing. */
  value(name: string): string | null;
  values(name: string): readonly string[];
  readonly positionals: readonly string[];
}

/**
 * Flags may stand anywhere, as `--name value` or `--name=value`; `--` ends them. `-h` is `--help`. The error is a line
 * without a full stop.
 */
export function parseFlags(args: readonly string[], kinds: FlagKinds): Result<Flags, string> {
  const options = Object.fromEntries(
    Object.entries(kinds).map(([name, kind]) => [
      name,
      { type: kind === "switch" ? "boolean" : "string", ...(name === "help" ? { short: "h" } : {}) } as const,
    ]),
  );
  // The loop below is as strict as `strict`, whose messages differ between runtimes and span several lines.
  const { tokens } = parseArgs({
    args: [...args],
    options,
    allowPositionals: true,
    strict: false,
    tokens: true,
  });
  const valuesOf = new Map<string, string[]>();
  const positionals: string[] = [];
  for (const token of tokens) {
    if (token.kind === "positional") positionals.push(token.value);
    if (token.kind !== "option") continue;
    const { name, rawName, value } = token;
    const kind = Object.hasOwn(kinds, name) ? kinds[name]! : null;
    if (kind === null) return fail(`Unknown option ${rawName}`);
    const before = valuesOf.get(name);
    if (kind === "switch") {
      if (value !== undefined) return fail(`${rawName} takes no value`);
    } else {
      // `--label --json` lacks a value; `--label=-x` does not. No flag begins with a digit, so `--shift -2h` is fine.
      const isForgotten = value === undefined || (!token.inlineValue && /^-[^\d]/.test(value));
      if (isForgotten) return fail(`${rawName} needs a value`);
      if (kind === "value" && before !== undefined) return fail(`${rawName} is given twice`);
    }
    valuesOf.set(name, [...(before ?? []), value ?? ""]);
  }
  return ok({
    positionals,
    has: (name) => valuesOf.has(name),
    value: (name) => valuesOf.get(name)?.[0] ?? null,
    values: (name) => valuesOf.get(name) ?? [],
  });
}
