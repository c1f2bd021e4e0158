import manifest from "../../package.json" with { type: "json" };
import { fail, ok, type Result } from "../lib/result.ts";
import { COMMON_FLAGS, type Command, type Invocation } from "./arguments/command.ts";
import { type Environment, kindsOf } from "./arguments/flag-row.ts";
import { type Flags, parseFlags } from "./arguments/flags.ts";
import { commandsOf, findCommand, findGroup } from "./commands.ts";
import { helpText, type UsageError } from "./help.ts";

/** Parses a command line. The result depends on the words and the environment alone. */
export function parseCommand(
  argv: readonly string[],
  environment: Environment,
): Result<Invocation, UsageError> {
  const { before, name, after } = splitAtName(argv);
  const common = parseFlags(before, kindsOf(COMMON_FLAGS));
  if (!common.ok) return usage(common.error, null);
  if (name === null) return parseWithoutName(common.value);
  if (name === "help") return parseHelp(after);
  if (findGroup(name) === null) {
    const command = name.includes(" ") ? null : findCommand(name);
    if (command === null) return usage(`Unknown command "${name}"`, null);
    return parseNamed(command, [...before, ...after], environment);
  }
  // Flags may stand between the two words of the name.
  const rest = splitAtName(after);
  if (rest.name === null) return parseGroupAlone(name, [...before, ...rest.before]);
  const command = findCommand(`${name} ${rest.name}`);
  if (command === null) return usage(`Unknown command "${name} ${rest.name}"`, name);
  return parseNamed(command, [...before, ...rest.before, ...rest.after], environment);
}

function parseNamed(
  command: Command,
  args: readonly string[],
  environment: Environment,
): Result<Invocation, UsageError> {
  const { name } = command;
  const flags = parseFlags(args, { ...kindsOf(COMMON_FLAGS), ...kindsOf(command.flags) });
  if (!flags.ok) return usage(flags.error, name);
  if (flags.value.has("help")) return ok(help(name));
  if (flags.value.has("version")) return ok(VERSION);
  const parsed = command.parse(flags.value, environment);
  return parsed.ok ? parsed : usage(parsed.error, name);
}

/** Finds the first word that is neither a flag nor the value of a common flag. */
function splitAtName(argv: readonly string[]) {
  for (let i = 0; i < argv.length; i++) {
    if (argv[i] === `--${COMMON_FLAGS.dataDir.name}`) i++;
    else if (!argv[i]!.startsWith("-")) {
      return { before: argv.slice(0, i), name: argv[i]!, after: argv.slice(i + 1) };
    }
  }
  return { before: argv, name: null, after: [] };
}

function parseWithoutName(flags: Flags): Result<Invocation, UsageError> {
  if (flags.has("version")) return ok(VERSION);
  return flags.has("help") ? ok(help(null)) : usage("A command is missing", null);
}

function parseGroupAlone(group: string, args: readonly string[]): Result<Invocation, UsageError> {
  const flags = parseFlags(args, kindsOf(COMMON_FLAGS));
  if (!flags.ok) return usage(flags.error, group);
  if (flags.value.has("help")) return ok(help(group));
  const verbs = commandsOf(group).map(({ name }) => name.slice(group.length + 1));
  const choices = `${verbs.slice(0, -1).join(", ")} or ${verbs.at(-1)}`;
  return usage(`${group} needs a command: ${choices}`, group);
}

/** `help`, `help import`, `help keys create`. */
function parseHelp(after: readonly string[]): Result<Invocation, UsageError> {
  const topic = after.filter((word) => !word.startsWith("-")).join(" ");
  if (topic === "") return ok(help(null));
  if (findGroup(topic) === null && findCommand(topic) === null)
    return usage(`Unknown command "${topic}"`, null);
  return ok(help(topic));
}

function help(topic: string | null): Invocation {
  return {
    name: "help",
    options: { topic },
    async run({ terminal, program }) {
      terminal.out(helpText(topic, program));
      return 0;
    },
  };
}

const VERSION: Invocation = {
  name: "version",
  options: {},
  async run({ terminal }) {
    terminal.out(`${manifest.version}\n`);
    return 0;
  },
};

function usage(message: string, topic: string | null): Result<never, UsageError> {
  return fail({ message, topic });
}
