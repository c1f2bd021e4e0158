import type { Permission } from "../../auth/permissions.ts";
import type { TierName } from "../../auth/tiers.ts";
import { type Config, DEFAULT_DATA_DIR } from "../../config.ts";
import { fail, ok, type Result } from "../../lib/result.ts";
import type { AppId, UserId } from "../../model/ids.ts";
import type { ImportFormat } from "../../service/import/input.ts";
import type { LogLevel } from "../screen/event-log.ts";
import { parseBackup, parseRestore } from "./backup-command.ts";
import { type FlagKinds, type Flags, noArguments, parseFlags, usage } from "./flags.ts";
import { parseImport } from "./import-command.ts";
import { parseKeysCreate } from "./keys-command.ts";
import { parseServe, SERVE_FLAGS } from "./serve-command.ts";

/** What a command line asks for, in units and types. */
export type Command =
  | ServeCommand
  | KeysCreateCommand
  | KeysListCommand
  | KeysRevokeCommand
  | ImportCommand
  | SealCommand
  | BackupCommand
  | RestoreCommand
  | VerifyCommand
  | { readonly kind: "help"; readonly topic: HelpTopic | null }
  | { readonly kind: "version" };

export interface ServeCommand {
  readonly kind: "serve";
  readonly config: Config;
  readonly logLevel: LogLevel;
}

export interface KeysCreateCommand {
  readonly kind: "keys-create";
  readonly dataDir: string;
  readonly appId: AppId;
  readonly permissions: readonly Permission[];
  readonly tier: TierName;
  readonly label: string;
  /** From now on; null is for ever. */
  readonly lifetimeMs: number | null;
}

export interface KeysListCommand {
  readonly kind: "keys-list";
  readonly dataDir: string;
  readonly json: boolean;
}

export interface KeysRevokeCommand {
  readonly kind: "keys-revoke";
  readonly dataDir: string;
  readonly id: string;
}

export interface ImportCommand {
  readonly kind: "import";
  readonly dataDir: string;
  readonly files: readonly { readonly path: string; readonly format: ImportFormat }[];
  readonly target: ImportTarget;
  readonly userId: UserId | null;
  readonly shiftToNow: boolean;
}

export type ImportTarget =
  | { readonly kind: "directory"; readonly appId: AppId }
  | { readonly kind: "server"; readonly url: string; readonly key: string };

export interface SealCommand {
  readonly kind: "seal";
  readonly dataDir: string;
  readonly json: boolean;
}

export interface BackupCommand {
  readonly kind: "backup";
  readonly dataDir: string;
  /** The backup's. */
  readonly directory: string;
  readonly json: boolean;
}

export interface RestoreCommand {
  readonly kind: "restore";
  readonly dataDir: string;
  /** The backup's. */
  readonly directory: string;
  readonly json: boolean;
}

export interface VerifyCommand {
  readonly kind: "verify";
  readonly dataDir: string;
  readonly json: boolean;
  readonly acknowledge: boolean;
  /** Leaves out whether log and archive agree, record by record. */
  readonly quick: boolean;
  /** Whether to list what the records of each day come to. */
  readonly days: boolean;
}

/** A command line that can't be followed: one line, and which help knows more. */
export interface UsageError {
  readonly message: string;
  readonly topic: HelpTopic | null;
}

export type Environment = Readonly<Record<string, string | undefined>>;

/** Options that every command takes, before its name or after it. */
const GLOBAL_FLAGS = { "data-dir": "value", help: "switch", version: "switch" } as const satisfies FlagKinds;

interface CommandSyntax {
  readonly flags: FlagKinds;
  parse(flags: Flags, dataDir: string, environment: Environment): Result<Command, UsageError>;
}

const SYNTAX = {
  serve: { flags: SERVE_FLAGS, parse: parseServe },
  "keys create": {
    flags: { app: "value", permission: "values", tier: "value", label: "value", expires: "value" },
    parse: parseKeysCreate,
  },
  "keys list": { flags: { json: "switch" }, parse: parseKeysList },
  "keys revoke": { flags: {}, parse: parseKeysRevoke },
  import: {
    flags: {
      app: "value",
      user: "value",
      format: "value",
      "shift-to-now": "switch",
      url: "value",
      key: "value",
    },
    parse: parseImport,
  },
  seal: { flags: { json: "switch" }, parse: parseSeal },
  backup: { flags: { json: "switch" }, parse: parseBackup },
  restore: { flags: { json: "switch" }, parse: parseRestore },
  verify: {
    flags: { json: "switch", acknowledge: "switch", quick: "switch", days: "switch" },
    parse: parseVerify,
  },
} as const satisfies Record<string, CommandSyntax>;

export type HelpTopic = keyof typeof SYNTAX | "keys";

/** Everything is decided here, from the words and the environment alone. */
export function parseCommand(argv: readonly string[], environment: Environment): Result<Command, UsageError> {
  const { before, name, after } = splitAtName(argv);
  const globals = parseFlags(before, GLOBAL_FLAGS);
  if (!globals.ok) return globals;
  if (name === null) {
    if (globals.value.has("version")) return ok({ kind: "version" });
    return globals.value.has("help") ? ok({ kind: "help", topic: null }) : usage("A command is missing");
  }
  if (name === "help") return parseHelp(after);
  const topic = topicOf(name, after);
  if (topic === null) return usage(`Unknown command "${name}"`);
  if (topic === "keys") return parseKeysAlone(after);

  const syntax: CommandSyntax = SYNTAX[topic];
  const words = name === topic ? after : withoutSecondName(after, topic);
  const flags = parseFlags([...before, ...words], { ...GLOBAL_FLAGS, ...syntax.flags });
  if (!flags.ok) return fail({ ...flags.error, topic });
  if (flags.value.has("help")) return ok({ kind: "help", topic });
  if (flags.value.has("version")) return ok({ kind: "version" });
  const dataDir = flags.value.value("data-dir") ?? (environment.WHEREHOUSE_DATA_DIR || DEFAULT_DATA_DIR);
  if (dataDir === "") return fail({ message: "--data-dir must not be empty", topic });
  const command = syntax.parse(flags.value, dataDir, environment);
  return command.ok ? command : fail({ ...command.error, topic });
}

/** The first word that is neither an option nor the value of `--data-dir`. */
function splitAtName(argv: readonly string[]) {
  for (let i = 0; i < argv.length; i++) {
    if (argv[i] === "--data-dir") i++;
    else if (!argv[i]!.startsWith("-")) {
      return { before: argv.slice(0, i), name: argv[i]!, after: argv.slice(i + 1) };
    }
  }
  return { before: argv, name: null, after: [] };
}

/** `keys` has a second name, somewhere among its options. */
function topicOf(name: string, after: readonly string[]): HelpTopic | null {
  if (name === "keys") {
    const second = splitAtName(after).name;
    const topic = `keys ${second}`;
    return isTopic(topic) ? topic : "keys";
  }
  return isTopic(name) && !name.includes(" ") ? name : null;
}

function withoutSecondName(after: readonly string[], topic: string): readonly string[] {
  const index = splitAtName(after).before.length;
  return topic.includes(" ") ? after.toSpliced(index, 1) : after;
}

function parseKeysAlone(after: readonly string[]): Result<Command, UsageError> {
  const { before, name } = splitAtName(after);
  if (name !== null) return fail({ message: `Unknown command "keys ${name}"`, topic: "keys" });
  const flags = parseFlags(before, GLOBAL_FLAGS);
  if (!flags.ok) return fail({ ...flags.error, topic: "keys" });
  if (flags.value.has("help")) return ok({ kind: "help", topic: "keys" });
  return fail({ message: "keys needs a command: create, list or revoke", topic: "keys" });
}

/** `help`, `help import`, `help keys create`. */
function parseHelp(after: readonly string[]): Result<Command, UsageError> {
  const topic = after.filter((word) => !word.startsWith("-")).join(" ");
  if (topic === "") return ok({ kind: "help", topic: null });
  if (topic === "keys" || isTopic(topic)) return ok({ kind: "help", topic });
  return usage(`Unknown command "${topic}"`);
}

function isTopic(text: string): text is keyof typeof SYNTAX {
  return Object.hasOwn(SYNTAX, text);
}

function parseKeysList(flags: Flags, dataDir: string): Result<Command, UsageError> {
  return noArguments(flags) ?? ok({ kind: "keys-list", dataDir, json: flags.has("json") });
}

function parseKeysRevoke({ positionals }: Flags, dataDir: string): Result<Command, UsageError> {
  const [id, more] = positionals;
  if (id === undefined) return usage("keys revoke needs the id of a key, as keys list shows it");
  if (more !== undefined) return usage(`keys revoke takes one id, and "${more}" is one more`);
  return ok({ kind: "keys-revoke", dataDir, id });
}

function parseSeal(flags: Flags, dataDir: string): Result<Command, UsageError> {
  return noArguments(flags) ?? ok({ kind: "seal", dataDir, json: flags.has("json") });
}

function parseVerify(flags: Flags, dataDir: string): Result<Command, UsageError> {
  const command = {
    kind: "verify",
    dataDir,
    json: flags.has("json"),
    acknowledge: flags.has("acknowledge"),
    quick: flags.has("quick"),
    days: flags.has("days"),
  } as const;
  return noArguments(flags) ?? ok(command);
}
