import { relative, resolve, sep } from "node:path";
import { fail, ok, type Result } from "../../lib/result.ts";
import { FixedRetention, type Retention } from "../../model/time/retention.ts";
import type { TraceSubject } from "../../operator/verify/trace-readers.ts";
import {
  type CommandInput,
  defineCommand,
  definePlainCommand,
  oneArgument,
  type PlainOptions,
} from "../arguments/command.ts";
import type { FlagRows, FlagValues } from "../arguments/flag-row.ts";
import { APP, DEVICE, FILE, USER } from "../arguments/value-kinds.ts";

/* The commands that work on a data directory without a server. */

const SETTINGS_LIST_FLAGS = {
  json: { name: "json", does: "print JSON" },
} as const satisfies FlagRows;

export const SETTINGS_LIST = definePlainCommand({
  name: "settings list",
  takes: "",
  summary: "list the settings of the data directory",
  flags: SETTINGS_LIST_FLAGS,
  help: {
    before: `Lists the settings of the data directory, also while a server runs.`,
  },
});

export type SettingsListOptions = PlainOptions<typeof SETTINGS_LIST_FLAGS>;

const SETTINGS_SET_FLAGS = {
  yes: { name: "yes", does: "proceed although records will be deleted" },
} as const satisfies FlagRows;

export const SETTINGS_SET = defineCommand({
  name: "settings set",
  takes: "NAME VALUE",
  summary: "set how long records are kept",
  flags: SETTINGS_SET_FLAGS,
  help: {
    before: `\
There is one setting, retention: how many whole UTC days before today are kept. The value is a number of days
such as 365d, at least 7; a number of years such as 10y, of 365.25 days each; or forever. The default is 365d.
A running server and its imports follow a change within 2 seconds, without a restart.

A longer retention does not bring back deleted records. If a shorter one expires records, the command prints
how many, of which days and devices, and changes nothing without --yes. With --yes they disappear from
answers, and the second seal after that deletes their files, a day later at the earliest: until then a
longer retention brings them back.`,
    after: "Exit code 1 if records would expire and --yes is missing, or if settings.json can't be used.",
    example: (program) => `${program} settings set retention 10y`,
  },
  parse: parseSettingsSet,
});

export interface SettingsSetOptions extends FlagValues<typeof SETTINGS_SET_FLAGS> {
  readonly dataDir: string;
  readonly retention: Retention;
}

function parseSettingsSet({
  values,
  dataDir,
  positionals: [name, value, more],
}: CommandInput<typeof SETTINGS_SET_FLAGS>): Result<SettingsSetOptions, string> {
  if (name === undefined || value === undefined)
    return fail("settings set needs a name and a value, such as retention 10y");
  if (more !== undefined) return fail(`settings set takes one name and one value, and "${more}" is one more`);
  if (name !== "retention") return fail(`There is no setting "${name}"; there is retention`);
  const retention = FixedRetention.parse(value);
  if (!retention.ok) return fail(`retention ${retention.error}; "${value}" is not`);
  return ok({ dataDir, retention: retention.value, ...values });
}

const REPORT_FLAGS = {
  json: { name: "json", does: "print the result as JSON" },
} as const satisfies FlagRows;

export const SEAL = definePlainCommand({
  name: "seal",
  takes: "",
  summary: "move completed days into the archive",
  flags: REPORT_FLAGS,
  help: {
    before: `\
Moves days older than the last 7, and all late data, into the archive, deletes the files of days that expired
at least a day ago, and removes archived records from the log. A running server does this by itself, and this
command needs the directory exclusively. If it is interrupted, nothing changes. Exit code 1 if a day could not
be archived because its part of the archive is damaged.`,
  },
});

export type SealOptions = PlainOptions<typeof REPORT_FLAGS>;

export const BACKUP = defineCommand({
  name: "backup",
  takes: "DIR",
  summary: "back up the data directory, even while a server runs",
  flags: REPORT_FLAGS,
  help: {
    before: `\
Copies the data directory to DIR, even while a server runs. The backup has every record that was
acknowledged before it began. The next backup to the same DIR copies only new files. DIR must be new, empty
or a backup, and lie outside the data directory. If both are on the same file system, files of the archive
are hard-linked and take no space. A second copy of them needs a DIR on another disk.

A backup is a data directory with a backup.json; verify --data-dir DIR checks it. If the backup is
interrupted or the disk is full, the previous backup stays as it was. Exit code 1 if there is no new backup,
or if the data directory is damaged: then it is backed up as it is, and the damaged files are named.`,
    example: (program) => `${program} backup /mnt/backup/wherehouse`,
  },
  parse: parserOfCopy("backup", "data directory"),
});

const RESTORE_FLAGS = {
  ...REPORT_FLAGS,
  erasures: {
    name: "erasures",
    takes: FILE,
    otherwise: "none",
    does: "erase again what this erasures.json, of the directory that was backed up, has as erased",
  },
} as const satisfies FlagRows;

export const RESTORE = defineCommand({
  name: "restore",
  takes: "DIR",
  summary: "create a data directory from a backup",
  flags: RESTORE_FLAGS,
  help: {
    before: `\
Copies the backup in DIR to a new data directory, which must be missing or empty. Every file is checked before
the first is written, and the data directory gets its name when all of it is on the disk. An incomplete or
damaged backup is rejected, and its bad files are named.

What was erased after the backup comes back with it, unless --erasures names a newer erasures.json of the same
data directory: then it is erased again before the new directory gets its name, and what was blocked stays so.`,
    example: (program) => `${program} restore /mnt/backup/wherehouse --data-dir data/restored`,
  },
  parse: parseRestore,
});

export interface RestoreOptions extends CopyOptions {
  /** The path of a newer ledger of erasures. */
  readonly erasures: string | null;
}

function parseRestore(input: CommandInput<typeof RESTORE_FLAGS>): Result<RestoreOptions, string> {
  const parsed = parserOfCopy("restore", "new data directory")(input);
  return parsed.ok ? ok({ ...parsed.value, erasures: input.values.erasures }) : parsed;
}

/** The options of `backup` and `restore`. */
export interface CopyOptions extends FlagValues<typeof REPORT_FLAGS> {
  readonly dataDir: string;
  /** The directory of the backup. */
  readonly directory: string;
}

function parserOfCopy(command: string, noun: string) {
  return ({
    values,
    dataDir,
    positionals,
  }: Pick<CommandInput<typeof REPORT_FLAGS>, "values" | "dataDir" | "positionals">): Result<
    CopyOptions,
    string
  > => {
    const backup = { needs: "the directory of the backup", takes: "one directory" };
    const directory = oneArgument(positionals, command, backup);
    if (!directory.ok) return directory;
    if (overlap(directory.value, dataDir))
      return fail(`The backup "${directory.value}" and the ${noun} "${dataDir}" must not contain each other`);
    return ok({ dataDir, directory: directory.value, json: values.json });
  };
}

/** Whether the directories are the same, or one contains the other. */
function overlap(a: string, b: string): boolean {
  return isWithin(a, b) || isWithin(b, a);
}

function isWithin(inner: string, outer: string): boolean {
  const path = relative(resolve(outer), resolve(inner));
  return path !== ".." && !path.startsWith(`..${sep}`);
}

const VERIFY_FLAGS = {
  json: { name: "json", does: "print the report as JSON" },
  acknowledge: { name: "acknowledge", does: "accept the damage that was set aside" },
  days: { name: "days", does: "list the records and the SHA-256 of each app and day (--json always does)" },
  quick: { name: "quick", does: "check the log and the files, but not their records" },
  isErased: { name: "erased", does: "search all files for traces of a device or a user instead" },
  deviceId: { name: "device", takes: DEVICE, otherwise: "a user", does: "the device, with --erased" },
  userId: { name: "user", takes: USER, otherwise: "a device", does: "the user, with --erased" },
  appId: { name: "app", takes: APP, otherwise: "all apps", does: "the app, with --erased" },
} as const satisfies FlagRows;

export const VERIFY = defineCommand({
  name: "verify",
  takes: "",
  summary: "check the data directory for damage",
  flags: VERIFY_FLAGS,
  help: {
    before: `Reads the whole data directory, even while a server runs, and reports its contents, damage, and whether the
log and the archive agree. It changes nothing. Exit code 1 if anything is missing, inconsistent, or damaged
and not acknowledged.

Every record is read as answers would show it, and each day of an app gets a SHA-256: directories with the
same records have the same hashes, whether the log or the archive has them. This needs memory for the records
of the last week, as a server does. --quick skips it.

Damaged bytes that a server set aside are files in damaged/. The server recovered all that it could read, and
keeps these files for inspection. --acknowledge records them in damaged/acknowledged.json, so that only new
damage fails; removing the files does the same. It does not cover damage that is still in the log: the next
start of the server sets that aside.

Every file of the archive is read completely. A missing or damaged file can be restored from a backup, even
while a server runs; until then answers that need it fail. --acknowledge gives it up for good: answers then
omit its records, and are marked as incomplete.

--erased searches every file for a device or a user after an erasure: log, archive, messages, corrections,
profiles and keys are decoded, and the bytes of all others are searched. Exit code 1 if there is any trace. A
short id may be part of other bytes. Files that can't be read whole are named as not searched.`,
    example: (program) => `${program} verify --erased --device phone-2025 --app shop`,
  },
  parse: parseVerify,
});

export interface VerifyOptions
  extends Pick<FlagValues<typeof VERIFY_FLAGS>, "json" | "acknowledge" | "days" | "quick"> {
  readonly dataDir: string;
  /** What to search for instead; null to check for damage. */
  readonly subject: TraceSubject | null;
}

function parseVerify({ values, dataDir }: CommandInput<typeof VERIFY_FLAGS>): Result<VerifyOptions, string> {
  const { isErased, deviceId, userId, appId, ...checks } = values;
  const subjectFlags = { device: deviceId, user: userId, app: appId };
  if (!isErased) {
    const stray = Object.entries(subjectFlags).find(([, value]) => value !== null);
    return stray === undefined
      ? ok({ dataDir, ...checks, subject: null })
      : fail(`--${stray[0]} needs --erased`);
  }
  const { json, ...others } = checks;
  const other = Object.entries(others).find(([, value]) => value);
  if (other !== undefined) return fail(`--erased does not go with --${other[0]}`);
  if ((deviceId === null) === (userId === null))
    return fail("verify --erased needs either --device or --user");
  const kind = deviceId === null ? "user" : "device";
  return ok({ dataDir, json, ...others, subject: { kind, id: (deviceId ?? userId)!, appId } });
}
