import { fail, ok, type Result } from "../../lib/result.ts";
import type { FlagKind, FlagKinds, Flags } from "./flags.ts";
import type { ValueKind } from "./value-kinds.ts";

/** A flag of a command: all that parser, help and documents know of it. */
export interface Flag {
  /** Without the dashes. */
  readonly name: string;
  /** What it does, without a full stop. */
  readonly does: string;
  /** A flag without is a switch, which is true or false. */
  readonly takes?: ValueKind<unknown>;
  /** A flag that may be given several times has all its values in a list. */
  readonly repeats?: true;
  readonly required?: true;
  /** The value if nothing is given; defaults to null. */
  readonly default?: unknown;
  /** The default in the words of help, if it is no value. */
  readonly otherwise?: string;
  /** The environment variable that is read if the flag is not given. An empty one counts as unset. */
  readonly variable?: string;
  /** The name of a flag without which this one has no meaning. */
  readonly goesWith?: string;
}

/** Rows by the name that their value has in the program. */
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

/** What the flags of these rows say; the error is the first that can't be followed. */
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
