import { relative, resolve, sep } from "node:path";
import { fail, ok, type Result } from "../../lib/result.ts";
import { FixedRetention, type Retention } from "../../model/time/retention.ts";
import {
  defineCommand,
  definePlainCommand,
  type Given,
  oneArgument,
  type PlainOptions,
} from "../arguments/command.ts";
import type { FlagRows, FlagValues } from "../arguments/flag-row.ts";

/*
 * The commands that work on a data directory without a server.
 */

const SETTINGS_LIST_FLAGS = {
  json: { name: "json", does: "as JSON" },
} as const satisfies FlagRows;

export const SETTINGS_LIST = definePlainCommand({
  name: "settings list",
  takes: "",
  summary: "show what the data directory is set to",
  flags: SETTINGS_LIST_FLAGS,
  help: {
    before: `Shows the settings of the data directory, also beside a running server.`,
  },
});

export type SettingsListOptions = PlainOptions<typeof SETTINGS_LIST_FLAGS>;

const SETTINGS_SET_FLAGS = {
  yes: { name: "yes", does: "do it though records go" },
} as const satisfies FlagRows;

export const SETTINGS_SET = defineCommand({
  name: "settings set",
  takes: "NAME VALUE",
  summary: "say how long records are kept",
  flags: SETTINGS_SET_FLAGS,
  help: {
    before: `\
There is one setting, retention: how far back records are kept, in whole UTC days before today. 365d are days,
from 7 on; 10y are years of 365.25 days, 3,653 days for ten; forever keeps all. Without a setting it is 365d.
A running server goes by it within 2 seconds, and so do imports and answers; nothing has to be started again.

A longer one counts at once, but brings back nothing that was deleted. A shorter one that records go with says
how many, of which days and devices, and does nothing without --yes. With it answers show them no more, and
their files are deleted by the second seal after it, a day later at the earliest: until then a longer retention
brings them back.`,
    after: "Exit code 1 where records would go and --yes is missing, or if settings.json can't be used.",
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
}: Given<typeof SETTINGS_SET_FLAGS>): Result<SettingsSetOptions, string> {
  if (name === undefined || value === undefined)
    return fail("settings set needs a name and a value, such as retention 10y");
  if (more !== undefined) return fail(`settings set takes one name and one value, and "${more}" is one more`);
  if (name !== "retention") return fail(`There is no setting "${name}"; there is retention`);
  const retention = FixedRetention.parse(value);
  if (!retention.ok) return fail(`retention ${retention.error}; "${value}" is not`);
  return ok({ dataDir, retention: retention.value, ...values });
}

/** The flags of commands that change a directory or copy it. */
const REPORT_FLAGS = {
  json: { name: "json", does: "what was done as JSON" },
} as const satisfies FlagRows;

export const SEAL = definePlainCommand({
  name: "seal",
  takes: "",
  summary: "move what is due into the archive",
  flags: REPORT_FLAGS,
  help: {
    before: `\
Moves the days that have left the window of the last 7 days into the archive now, with all late data, deletes
what went out of the retention a day ago, and frees the log of what is archived. A running server
does the same by itself; this needs the data directory for itself. Interrupted, it leaves all as it was.
Exit code 1 if a day could not be sealed, since its part of the archive is damaged.`,
  },
});

export type SealOptions = PlainOptions<typeof REPORT_FLAGS>;

export const BACKUP = defineCommand({
  name: "backup",
  takes: "DIR",
  summary: "copy the data directory, also beside a running server",
  flags: REPORT_FLAGS,
  help: {
    before: `\
Copies the data directory to DIR, also beside a running server: every record that was acknowledged before it
began is in it. The next backup to the same DIR copies only what is new. DIR must be new, empty or a backup,
and lie outside the data directory. On the same file system files of the archive are linked, which takes no
room, but is no second copy of them: for that DIR belongs on another disk.

DIR is a data directory with a backup.json: verify --data-dir DIR reads it whole. Interrupted, or where the
disk is full, the backup that was there before is as it was. Exit code 1 if there is no new backup, or if the
data directory is damaged: it is then backed up as it is, and what is damaged is named.`,
    example: (program) => `${program} backup /mnt/backup/wherehouse`,
  },
  parse: parserOfCopy("backup", "data directory"),
});

export const RESTORE = defineCommand({
  name: "restore",
  takes: "DIR",
  summary: "make a data directory from a backup",
  flags: REPORT_FLAGS,
  help: {
    before: `\
Copies the backup in DIR to a new data directory, which must not be there or be empty. Every file is checked
before the first is written, and the data directory gets its name when all of it is on the disk. A backup that
is not whole is refused, and its bad files are named.`,
    example: (program) => `${program} restore /mnt/backup/wherehouse --data-dir data/restored`,
  },
  parse: parserOfCopy("restore", "new data directory"),
});

/** What `backup` and `restore` are given. */
export interface CopyOptions extends FlagValues<typeof REPORT_FLAGS> {
  readonly dataDir: string;
  /** The directory of the backup. */
  readonly directory: string;
}

function parserOfCopy(command: string, noun: string) {
  return ({ values, dataDir, positionals }: Given<typeof REPORT_FLAGS>): Result<CopyOptions, string> => {
    const backup = { needs: "the directory of the backup", takes: "one directory" };
    const directory = oneArgument(positionals, command, backup);
    if (!directory.ok) return directory;
    if (overlap(directory.value, dataDir))
      return fail(`The backup "${directory.value}" and the ${noun} "${dataDir}" must lie apart`);
    return ok({ dataDir, directory: directory.value, ...values });
  };
}

/** Whether one directory is the other, or lies in it. */
function overlap(a: string, b: string): boolean {
  return isWithin(a, b) || isWithin(b, a);
}

function isWithin(inner: string, outer: string): boolean {
  const path = relative(resolve(outer), resolve(inner));
  return path !== ".." && !path.startsWith(`..${sep}`);
}

const VERIFY_FLAGS = {
  json: { name: "json", does: "the report as JSON" },
  acknowledge: { name: "acknowledge", does: "note what was set aside as seen" },
  days: { name: "days", does: "list the records and the SHA-256 of each app and day (--json always does)" },
  quick: { name: "quick", does: "read log and files, and leave out whether their records agree" },
} as const satisfies FlagRows;

export const VERIFY = definePlainCommand({
  name: "verify",
  takes: "",
  summary: "look through the data directory for damage",
  flags: VERIFY_FLAGS,
  help: {
    before: `Reads the whole data directory, also beside a running server, and changes nothing: what is there, what is
damaged, and whether log and archive agree. Exit code 1 if anything is damaged and not acknowledged, missing,
or contradicts the rest.

Every record is read as answers would show it, and each day of an app gets a SHA-256: directories with the
same records have the same hashes, whether memory or the archive holds them. It takes memory for the records
of the last week, as a server does. --quick leaves this out.

Damaged bytes that a server set aside are files in damaged/; all that could be read was recovered, and they
are kept for whoever wants to look. --acknowledge notes them as seen, in damaged/acknowledged.json, so that
only new damage fails. Removing the files does the same. Damage still in the log is not acknowledged this way:
the next start of the server sets it aside.

Every file of the archive is read from its first byte to its last. One that is missing or damaged can be put
back from a backup, also under a running server; until then answers that need it fail. --acknowledge gives it
up for good: answers go without its records then, and say that they are incomplete.`,
  },
});

export type VerifyOptions = PlainOptions<typeof VERIFY_FLAGS>;
