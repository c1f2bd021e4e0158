import { DEFAULT_DATA_DIR } from "../../app/config.ts";
import { fail, ok, type Result } from "../../lib/result.ts";
import type { Clock } from "../../model/time/clock.ts";
import type { Platform } from "../../runtime/platform.ts";
import type { Terminal } from "../../runtime/process.ts";
import { type Environment, type FlagRows, type FlagValues, readFlags } from "./flag-row.ts";
import type { Flags } from "./flags.ts";
import { DIRECTORY } from "./value-kinds.ts";

/*
 * A command of the command line: its flags, its help, and how its words are parsed. An error of parsing is a line
 * without a full stop.
 */

/** All of a command but what does it. */
export interface CommandDefinition<Options extends object> {
  /** One word, or two if the command belongs to a group: `keys create`. */
  readonly name: string;
  /** Its arguments, as usage shows them; empty if it takes flags only. */
  readonly takes: string;
  /** For the list of all commands. */
  readonly summary: string;
  readonly flags: FlagRows;
  readonly help: CommandHelp;
  parse(flags: Flags, environment: Environment): Result<Options, string>;
}

/** A command that can be run. */
export interface Command extends Omit<CommandDefinition<object>, "parse"> {
  parse(flags: Flags, environment: Environment): Result<Invocation, string>;
}

/** What `--help` says of a command besides its flags. */
export interface CommandHelp {
  /** The ways to give the command; defaults to one, with the required flags. */
  readonly ways?: readonly string[];
  /** Paragraphs before the flags. */
  readonly before: string;
  /** Paragraphs after the flags. */
  readonly after?: string;
  /** Command lines of this program. */
  readonly example?: (program: string) => string;
}

/** A command line that was understood, ready to run. */
export interface Invocation {
  /** The command's name. */
  readonly name: string;
  readonly options: object;
  /** Returns the exit code. */
  run(context: CommandContext): Promise<number>;
}

/** What a command works with. */
export interface CommandContext {
  readonly platform: Platform;
  readonly clock: Clock;
  readonly terminal: Terminal;
  /** How a person starts this program. */
  readonly program: string;
  /** Aborts when the process is asked to stop. Without this call a stop ends the process at once. */
  stopSignal(): AbortSignal;
}

/** Does a command; returns the exit code. */
export type Run<Options> = (options: Options, context: CommandContext) => Promise<number>;

/** What a command line gives to a command. */
export interface Given<Rows extends FlagRows> {
  readonly values: FlagValues<Rows>;
  readonly dataDir: string;
  /** The words that are neither flags nor their values. */
  readonly positionals: readonly string[];
  readonly environment: Environment;
}

interface Definition<Rows extends FlagRows, Options extends object>
  extends Omit<CommandDefinition<Options>, "flags" | "parse"> {
  readonly flags: Rows;
  parse(given: Given<Rows>): Result<Options, string>;
}

export function defineCommand<const Rows extends FlagRows, Options extends object>({
  parse,
  ...command
}: Definition<Rows, Options>): CommandDefinition<Options> {
  const { name, takes, flags: rows } = command;
  return {
    ...command,
    parse(flags, environment) {
      const common = readFlags(COMMON_FLAGS, name, flags, environment);
      if (!common.ok) return common;
      const values = readFlags(rows, name, flags, environment);
      if (!values.ok) return values;
      const { positionals } = flags;
      if (takes === "" && positionals.length > 0) return fail(`Unexpected argument "${positionals[0]}"`);
      return parse({ values: values.value, dataDir: common.value.dataDir, positionals, environment });
    },
  };
}

/** The options of a command that needs no more than what its flags say. */
export type PlainOptions<Rows extends FlagRows> = FlagValues<Rows> & { readonly dataDir: string };

export function definePlainCommand<const Rows extends FlagRows>(
  definition: Omit<Definition<Rows, PlainOptions<Rows>>, "parse">,
): CommandDefinition<PlainOptions<Rows>> {
  const parse = ({ values, dataDir }: Given<Rows>) => ok({ dataDir, ...values });
  return defineCommand<Rows, PlainOptions<Rows>>({ ...definition, parse });
}

/** A command whose modules are loaded when it runs: those of a server take longer than most commands do. */
export function loading<Options extends object>(
  definition: CommandDefinition<Options>,
  load: () => Promise<Run<NoInfer<Options>>>,
): Command {
  return {
    ...definition,
    parse(flags, environment) {
      const parsed = definition.parse(flags, environment);
      if (!parsed.ok) return parsed;
      const options = parsed.value;
      return ok({ name: definition.name, options, run: async (context) => (await load())(options, context) });
    },
  };
}

/** Flags that every command takes, before its name or after it. */
export const COMMON_FLAGS = {
  dataDir: {
    name: "data-dir",
    takes: DIRECTORY,
    default: DEFAULT_DATA_DIR,
    variable: "WHEREHOUSE_DATA_DIR",
    does: "the data directory",
  },
  help: { name: "help", does: "what a command does, and its options" },
  version: { name: "version", does: "the version" },
} as const satisfies FlagRows;

/** The argument of a command that takes one: `needs` says in full what that is, `takes` in short. */
export function oneArgument(
  positionals: readonly string[],
  command: string,
  { needs, takes }: { readonly needs: string; readonly takes: string },
): Result<string, string> {
  const [argument, more] = positionals;
  if (argument === undefined || argument === "") return fail(`${command} needs ${needs}`);
  return more === undefined ? ok(argument) : fail(`${command} takes ${takes}, and "${more}" is one more`);
}
