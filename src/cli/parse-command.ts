import { fail, ok, type Result } from "../lib/result.ts";
import { type Environment, kindsOf, readFlags } from "./arguments/flag-row.ts";
import { type Flags, parseFlags } from "./arguments/flags.ts";
import { type ClusterInitCommand, parseClusterInit } from "./cluster/command.ts";
import { type JoinCommand, parseJoin } from "./cluster/join-command.ts";
import { COMMON_FLAGS, type CommandName, FLAGS, isCommandName, type ValuesOf } from "./commands.ts";
import { type DemoCommand, parseDemo } from "./demo/command.ts";
import { type BackupCommand, parseBackup, parseRestore, type RestoreCommand } from "./directory/command.ts";
import { parseSettingsSet, type SettingsSetCommand } from "./directory/settings-command.ts";
import { type ExportCommand, parseExport } from "./export/command.ts";
import { type ImportCommand, parseImport } from "./import/command.ts";
import {
  type KeysCreateCommand,
  type KeysLinkCommand,
  type KeysPassPhraseCommand,
  type KeysRevokeCommand,
  parseKeysCreate,
  parseKeysLink,
  parseKeysPassPhrase,
  parseKeysRevoke,
} from "./keys/command.ts";
import {
  parseQuarantineDelete,
  parseQuarantineList,
  parseQuarantineReplay,
  parseQuarantineShow,
  type QuarantineChangeCommand,
  type QuarantineListCommand,
  type QuarantineShowCommand,
} from "./remote/command.ts";
import { type DoctorCommand, parseDoctor } from "./remote/doctor-command.ts";
import { parseServe, type ServeCommand } from "./serve/command.ts";

/** What a command line asks for, in units and types. */
export type Command =
  | ServeCommand
  | DemoCommand
  | KeysCreateCommand
  | KeysListCommand
  | KeysLinkCommand
  | KeysRevokeCommand
  | KeysPassPhraseCommand
  | QuarantineListCommand
  | QuarantineShowCommand
  | QuarantineChangeCommand
  | ImportCommand
  | ExportCommand
  | DoctorCommand
  | SettingsListCommand
  | SettingsSetCommand
  | SealCommand
  | BackupCommand
  | RestoreCommand
  | JoinCommand
  | VerifyCommand
  | ClusterInitCommand
  | ClusterNodesCommand
  | { readonly kind: "help"; readonly topic: HelpTopic | null }
  | { readonly kind: "version" };

export type KeysListCommand = PlainCommand<"keys list">;
export type SettingsListCommand = PlainCommand<"settings list">;
export type SealCommand = PlainCommand<"seal">;
export type VerifyCommand = PlainCommand<"verify">;
export type ClusterNodesCommand = PlainCommand<"cluster nodes">;

/** A command that takes flags only, and needs no more than what they say. */
type PlainCommand<Name extends CommandName> = {
  readonly kind: Name;
  readonly dataDir: string;
} & ValuesOf<Name>;

/** Commands of two words, by the first: what may follow. */
const GROUPS = {
  cluster: "init or nodes",
  keys: "create, list, link, revoke or passphrase",
  quarantine: "list, show, replay or delete",
  settings: "list or set",
} as const;

export type CommandGroup = keyof typeof GROUPS;

export type HelpTopic = CommandName | CommandGroup;

/** A command line that can't be followed: one line, and which help knows more. */
export interface UsageError {
  readonly message: string;
  readonly topic: HelpTopic | null;
}

/** The error is a line without a full stop. */
type Parse<Name extends CommandName> = (
  values: ValuesOf<Name>,
  dataDir: string,
  positionals: readonly string[],
  environment: Environment,
) => Result<Command, string>;

const PARSERS: { readonly [Name in CommandName]: Parse<Name> } = {
  serve: flagsOnly(parseServe),
  demo: flagsOnly(parseDemo),
  "keys create": flagsOnly(parseKeysCreate),
  "keys list": flagsOnly((values, dataDir) => ok({ kind: "keys list", dataDir, ...values })),
  "keys link": parseKeysLink,
  "keys revoke": parseKeysRevoke,
  "keys passphrase": parseKeysPassPhrase,
  "quarantine list": flagsOnly(parseQuarantineList),
  "quarantine show": parseQuarantineShow,
  "quarantine replay": parseQuarantineReplay,
  "quarantine delete": parseQuarantineDelete,
  import: parseImport,
  export: flagsOnly(parseExport),
  doctor: flagsOnly(parseDoctor),
  "settings list": flagsOnly((values, dataDir) => ok({ kind: "settings list", dataDir, ...values })),
  "settings set": parseSettingsSet,
  seal: flagsOnly((values, dataDir) => ok({ kind: "seal", dataDir, ...values })),
  backup: parseBackup,
  restore: parseRestore,
  join: parseJoin,
  verify: flagsOnly((values, dataDir) => ok({ kind: "verify", dataDir, ...values })),
  "cluster init": flagsOnly(parseClusterInit),
  "cluster nodes": flagsOnly((values, dataDir) => ok({ kind: "cluster nodes", dataDir, ...values })),
};

/** For a command that takes no other arguments. */
function flagsOnly<Name extends CommandName>(
  parse: (values: ValuesOf<Name>, dataDir: string, environment: Environment) => Result<Command, string>,
): Parse<Name> {
  return (values, dataDir, positionals, environment) => {
    const [unexpected] = positionals;
    if (unexpected !== undefined) return fail(`Unexpected argument "${unexpected}"`);
    return parse(values, dataDir, environment);
  };
}

/** Everything is decided here, from the words and the environment alone. */
export function parseCommand(argv: readonly string[], environment: Environment): Result<Command, UsageError> {
  const { before, name, after } = splitAtName(argv);
  const common = parseFlags(before, kindsOf(COMMON_FLAGS));
  if (!common.ok) return usage(common.error, null);
  if (name === null) return parseWithoutName(common.value);
  if (name === "help") return parseHelp(after);
  if (!isGroup(name)) {
    if (!isCommandName(name) || name.includes(" ")) return usage(`Unknown command "${name}"`, null);
    return parseNamed(name, [...before, ...after], environment);
  }
  // Its second name stands somewhere among its flags.
  const rest = splitAtName(after);
  if (rest.name === null) return parseGroupAlone(name, [...before, ...rest.before]);
  const fullName = `${name} ${rest.name}`;
  if (!isCommandName(fullName)) return usage(`Unknown command "${fullName}"`, name);
  return parseNamed(fullName, [...before, ...rest.before, ...rest.after], environment);
}

function parseNamed<Name extends CommandName>(
  name: Name,
  args: readonly string[],
  environment: Environment,
): Result<Command, UsageError> {
  const flags = parseFlags(args, { ...kindsOf(COMMON_FLAGS), ...kindsOf(FLAGS[name]) });
  if (!flags.ok) return usage(flags.error, name);
  if (flags.value.has("help")) return ok({ kind: "help", topic: name });
  if (flags.value.has("version")) return ok({ kind: "version" });
  const command = readCommand(name, flags.value, environment);
  return command.ok ? command : usage(command.error, name);
}

function readCommand<Name extends CommandName>(
  name: Name,
  flags: Flags,
  environment: Environment,
): Result<Command, string> {
  const common = readFlags(COMMON_FLAGS, name, flags, environment);
  if (!common.ok) return common;
  const values = readFlags(FLAGS[name], name, flags, environment);
  if (!values.ok) return values;
  return PARSERS[name](values.value, common.value.dataDir, flags.positionals, environment);
}

/** The first word that is neither a flag nor the value of a common one. */
function splitAtName(argv: readonly string[]) {
  for (let i = 0; i < argv.length; i++) {
    if (argv[i] === `--${COMMON_FLAGS.dataDir.name}`) i++;
    else if (!argv[i]!.startsWith("-")) {
      return { before: argv.slice(0, i), name: argv[i]!, after: argv.slice(i + 1) };
    }
  }
  return { before: argv, name: null, after: [] };
}

function parseWithoutName(flags: Flags): Result<Command, UsageError> {
  if (flags.has("version")) return ok({ kind: "version" });
  return flags.has("help") ? ok({ kind: "help", topic: null }) : usage("A command is missing", null);
}

function parseGroupAlone(group: CommandGroup, args: readonly string[]): Result<Command, UsageError> {
  const flags = parseFlags(args, kindsOf(COMMON_FLAGS));
  if (!flags.ok) return usage(flags.error, group);
  if (flags.value.has("help")) return ok({ kind: "help", topic: group });
  return usage(`${group} needs a command: ${GROUPS[group]}`, group);
}

/** `help`, `help import`, `help keys create`. */
function parseHelp(after: readonly string[]): Result<Command, UsageError> {
  const topic = after.filter((word) => !word.startsWith("-")).join(" ");
  if (topic === "") return ok({ kind: "help", topic: null });
  if (isGroup(topic) || isCommandName(topic)) return ok({ kind: "help", topic });
  return usage(`Unknown command "${topic}"`, null);
}

function isGroup(name: string): name is CommandGroup {
  return Object.hasOwn(GROUPS, name);
}

function usage(message: string, topic: HelpTopic | null): Result<never, UsageError> {
  return fail({ message, topic });
}
