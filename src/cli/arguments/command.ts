import { DEFAULT_DATA_DIR } from "../../app/config.ts";
import { fail, ok, type Result } from "../../lib/result.ts";
import type { Clock } from "../../model/time/clock.ts";
import type { Platform } from "../../runtime/platform.ts";
import type { Terminal } from "../../runtime/process.ts";
import { type Environment, type FlagRows, type FlagValues, readFlags } from "./flag-row.ts";
import type { Flags } from "./flags.ts";
import { DIRECTORY } from "./value-kinds.ts";

/*
 * A command of the command line: its flags, its help and its parser. A parser's error is a line without a full stop.
 */

/** A command without the function that runs it. */
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

export interface Command extends Omit<CommandDefinition<object>, "parse"> {
  parse(flags: Flags, environment: Environment): Result<Invocation, string>;
}

/** What `--help` prints about a command besides its flags. */
export interface CommandHelp {
  /** The usage lines; defaults to one with the required flags. */
  readonly ways?: readonly string[];
  /** Paragraphs before the flags. */
  readonly before: string;
  /** Paragraphs after the flags. */
  readonly after?: string;
  /** Command lines of this program. */
  readonly example?: (program: string) => string;
}

/** A parsed command line, ready to run. */
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
  /** The words that start this program, for commands that a person can paste. */
  readonly program: string;
  /** The signal aborts when the process must stop. Until a command calls this, a stop request ends the process. */
  stopSignal(): AbortSignal;
}

/** Runs a command; returns the exit code. */
export type Run<Options> = (options: Options, context: CommandContext) => Promise<number>;

/** The arguments of a command after its flags are parsed. */
export interface CommandInput<Rows extends FlagRows> {
  readonly values: FlagValues<Rows>;
  readonly dataDir: string;
  /** The words that are neither flags nor their values. */
  readonly positionals: readonly string[];
  readonly environment: Environment;
}

interface Definition<Rows extends FlagRows, Options extends object>
  extends Omit<CommandDefinition<Options>, "flags" | "parse"> {
  readonly flags: Rows;
  parse(given: CommandInput<Rows>): Result<Options, string>;
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

/** The options of a command that uses its flags as they are. */
export type PlainOptions<Rows extends FlagRows> = FlagValues<Rows> & { readonly dataDir: string };

export function definePlainCommand<const Rows extends FlagRows>(
  definition: Omit<Definition<Rows, PlainOptions<Rows>>, "parse">,
): CommandDefinition<PlainOptions<Rows>> {
  const parse = ({ values, dataDir }: CommandInput<Rows>) => ok({ dataDir, ...values });
  return defineCommand<Rows, PlainOptions<Rows>>({ ...definition, parse });
}

/** Loads a command's modules when it runs: loading those of the server takes longer than most commands run. */
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

/** The flags of every command. They may precede its name. */
export const COMMON_FLAGS = {
  dataDir: {
    name: "data-dir",
    takes: DIRECTORY,
    default: DEFAULT_DATA_DIR,
    variable: "WHEREHOUSE_DATA_DIR",
    does: "the data directory",
  },
  help: { name: "help", does: "show what a command does, and its options" },
  version: { name: "version", does: "show the version" },
} as const satisfies FlagRows;

/** Parses a command's only argument. The error names it by `needs` if it is missing, by `takes` if there are more. */
export function oneArgument(
  positionals: readonly string[],
  command: string,
  { needs, takes }: { readonly needs: string; readonly takes: string },
): Result<string, string> {
  const [argument, more] = positionals;
  if (argument === undefined || argument === "") return fail(`${command} needs ${needs}`);
  return more === undefined ? ok(argument) : fail(`${command} takes ${takes}, and "${more}" is one more`);
}
