import { parseArgs } from "node:util";
import { fail, ok, type Result } from "../../lib/result.ts";

/** Sorts the words of a command line into flags and arguments, for this program and for those of bench/ and test/. */

/** How a flag is written: alone, with a value, or with a value as often as one likes. */
export type FlagKind = "switch" | "value" | "values";
export type FlagKinds = Readonly<Record<string, FlagKind>>;

/** The flags of a command line as they were written, by name without the dashes, and its arguments. */
export interface Flags {
  has(name: string): boolean;
  /** The one value; null where the flag was not given. */
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
  // As strict as `strict`, whose messages differ between runtimes and don't fit in a line.
  const { tokens } = parseArgs({
    args: [...args],
    options,
    allowPositionals: true,
    strict: false,
    tokens: true,
  });
  const given = new Map<string, string[]>();
  const positionals: string[] = [];
  for (const token of tokens) {
    if (token.kind === "positional") positionals.push(token.value);
    if (token.kind !== "option") continue;
    const { name, rawName, value } = token;
    const kind = Object.hasOwn(kinds, name) ? kinds[name]! : null;
    if (kind === null) return fail(`Unknown option ${rawName}`);
    const before = given.get(name);
    if (kind === "switch") {
      if (value !== undefined) return fail(`${rawName} takes no value`);
    } else {
      // A value that looks like a flag is a forgotten one; `--label=-x` says that it is meant. No flag is a number.
      const isForgotten = value === undefined || (!token.inlineValue && /^-[^\d]/.test(value));
      if (isForgotten) return fail(`${rawName} needs a value`);
      if (kind === "value" && before !== undefined) return fail(`${rawName} is given twice`);
    }
    given.set(name, [...(before ?? []), value ?? ""]);
  }
  return ok({
    positionals,
    has: (name) => given.has(name),
    value: (name) => given.get(name)?.[0] ?? null,
    values: (name) => given.get(name) ?? [],
  });
}
