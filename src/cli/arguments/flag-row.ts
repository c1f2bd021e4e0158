import { fail, ok, type Result } from "../../lib/result.ts";
import type { FlagKind, FlagKinds, Flags } from "./flags.ts";
import type { ValueKind } from "./value-kinds.ts";

/** A flag of a command. The parser, the help and the documents read this row. */
export interface Flag {
  /** Without the dashes. */
  readonly name: string;
  /** What it does, without a full stop. */
  readonly does: string;
  /** Absent for a switch, whose value is true or false. */
  readonly takes?: ValueKind<unknown>;
  /** The flag may occur several times; its value is a list. */
  readonly repeats?: true;
  readonly required?: true;
  /** Defaults to null. */
  readonly default?: unknown;
  /** The default in words, for the help of a flag that has no default value. */
  readonly otherwise?: string;
  /** The environment variable to read if the flag is missing. An empty one counts as unset. */
  readonly variable?: string;
  /** The name of the flag that this one requires. */
  readonly goesWith?: string;
}

/** Rows by the names of their values in the program. */
export type FlagRows = Readonly<Record<string, Flag>>;

export type FlagValues<Rows extends FlagRows> = { readonly [Name in keyof Rows]: FlagValue<Rows[Name]> };

type FlagValue<Row extends Flag> = Row extends { readonly takes: ValueKind<infer Value> }
  ? Row extends { readonly repeats: true }
    ? readonly Value[]
    : Row extends { readonly required: true } | { readonly default: unknown }
      ? Value
      : Value | null
  : boolean;

export type Environment = Readonly<Record<string, string | undefined>>;

export function kindsOf(rows: FlagRows): FlagKinds {
  return Object.fromEntries(Object.values(rows).map((row) => [row.name, kindOf(row)]));
}

function kindOf({ takes, repeats }: Flag): FlagKind {
  if (takes === undefined) return "switch";
  return repeats ? "values" : "value";
}

/** The values of these flags, or the error of the first flag that is wrong. */
export function readFlags<Rows extends FlagRows>(
  rows: Rows,
  command: string,
  flags: Flags,
  environment: Environment,
): Result<FlagValues<Rows>, string> {
  const values: Record<string, unknown> = {};
  for (const [name, row] of Object.entries(rows)) {
    const value = readFlag(row, command, flags, environment);
    if (!value.ok) return value;
    values[name] = value.value;
  }
  return ok(values as FlagValues<Rows>);
}

function readFlag(
  { name, takes, repeats, required, variable, goesWith, default: byDefault = null }: Flag,
  command: string,
  flags: Flags,
  environment: Environment,
): Result<unknown, string> {
  if (takes === undefined) return ok(flags.has(name));
  if (goesWith !== undefined && !flags.has(goesWith))
    return flags.has(name) ? fail(`--${name} goes with --${goesWith}`) : ok(repeats ? [] : byDefault);
  const texts = flags.values(name);
  if (required && texts.length === 0) {
    const choices = takes.choices === undefined ? "" : `: ${takes.choices.join(", ")}`;
    return fail(`${command} needs --${name}${choices}`);
  }
  if (repeats) return readAll(takes, texts, `--${name}`);
  if (texts.length > 0) return takes.parse(texts[0]!, `--${name}`);
  const fromEnvironment = variable === undefined ? "" : (environment[variable] ?? "");
  return fromEnvironment === "" ? ok(byDefault) : takes.parse(fromEnvironment, variable!);
}

function readAll<Value>(
  { parse }: ValueKind<Value>,
  texts: readonly string[],
  name: string,
): Result<readonly Value[], string> {
  const values: Value[] = [];
  for (const text of texts) {
    const value = parse(text, name);
    if (!value.ok) return value;
    values.push(value.value);
  }
  return ok(values);
}
