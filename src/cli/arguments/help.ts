import { PERMISSIONS } from "../../auth/permissions.ts";
import { TIER_NAMES } from "../../auth/tiers.ts";
import { DEFAULT_DATA_DIR, DEFAULT_HOSTNAME, DEFAULT_PORT } from "../../config.ts";
import { printableLine } from "../../lib/text/printable.ts";
import { LOG_LEVELS } from "../screen/event-log.ts";
import type { HelpTopic, UsageError } from "./command.ts";
import { DEFAULT_TIER } from "./keys-command.ts";

/** How the program is started. */
const PROGRAM = "bun src/main.ts";

export function helpText(topic: HelpTopic | null): string {
  return topic === null ? OVERVIEW : TOPICS[topic];
}

/** What is wrong with a command line, and where to look. */
export function usageErrorText({ message, topic }: UsageError): string {
  return `${printableLine(message)}.\nTry: ${PROGRAM} ${topic === null ? "" : `${topic} `}--help\n`;
}

const DATA_DIR = `  --data-dir DIR         the data directory (${DEFAULT_DATA_DIR}; WHEREHOUSE_DATA_DIR)`;

const OVERVIEW = `Wherehouse: where devices are, where they were, and who is near.

Usage: ${PROGRAM} COMMAND [options]

  serve                  answer requests
  keys create            make an API key
  keys list              show the keys
  keys revoke ID         end a key
  import FILE...         take in reports from files
  seal                   move what is due into the archive
  backup DIR             copy the data directory, also beside a running server
  restore DIR            make a data directory from a backup
  verify                 look through the data directory for damage

Options of every command:
${DATA_DIR}
  --help                 what a command does, and its options
  --version              the version

Results go to standard output, everything else to standard error.
Exit code: 0 done, 1 failed, 2 the command line is wrong.

Example:
  ${PROGRAM} import tracks.csv.gz --app default --shift-to-now
  ${PROGRAM} serve
`;

const TOPICS: Readonly<Record<HelpTopic, string>> = {
  serve: `Usage: ${PROGRAM} serve [options]

Answers requests until it is told to stop (Ctrl-C, SIGTERM), finishes what it accepted, and exits with 0.
In an empty data directory it makes a first key for the app "default": shown once on a terminal, else
written to the file first-key in the data directory. Events go to standard error, one line of JSON each (as
sentences where that is a terminal).

  --port PORT            port to listen on; 0 lets the system choose (${DEFAULT_PORT}; WHEREHOUSE_PORT)
  --host HOST            name or address to listen on (${DEFAULT_HOSTNAME}; WHEREHOUSE_HOST)
  --cors-origin ORIGIN   lets pages of this origin read answers; * is any; repeatable (none)
  --seal-every TIME      how often what is due and all late data move into the archive: 30s, 15m, 1h, 1d (1h)
  --archive-threads N    threads for questions about archived days (2)
  --archive-memory SIZE  memory for them: 500MB, 4GB (1GB)
  --log-level LEVEL      ${LOG_LEVELS.join(", ")} (info; WHEREHOUSE_LOG_LEVEL); debug tells of each request
${DATA_DIR}

Example:
  ${PROGRAM} serve --port 8080 --cors-origin https://map.example.org
`,
  keys: `Usage: ${PROGRAM} keys create|list|revoke [options]

Changes act on a running server within 2 seconds.

  keys create            make a key, printed alone on standard output
  keys list              show the keys
  keys revoke ID         end a key

Help on each: ${PROGRAM} keys create --help
`,
  "keys create": `Usage: ${PROGRAM} keys create --app APP --permission PERMISSION... [options]

Prints the key alone on standard output. Only its hash is kept, so this is the one time that it is seen.

  --app APP              the app that the key belongs to
  --permission NAME      ${PERMISSIONS.join(", ")}; repeat it for several
  --tier TIER            how fast the key may ask: ${TIER_NAMES.join(", ")} (${DEFAULT_TIER})
  --label TEXT           what the key is for, shown by keys list (none)
  --expires TIME         lifetime from now: 90m, 12h, 30d, 2w (never)
${DATA_DIR}

Example:
  KEY=$(${PROGRAM} keys create --app default --permission read --permission write --expires 30d)
`,
  "keys list": `Usage: ${PROGRAM} keys list [options]

Shows every key, revoked and expired ones too, by its id and last four characters.

  --json                 as JSON, with times in Unix milliseconds
${DATA_DIR}
`,
  "keys revoke": `Usage: ${PROGRAM} keys revoke ID [options]

Ends a key for good. A running server refuses it within 2 seconds. Revoking again changes nothing.

${DATA_DIR}

Example:
  ${PROGRAM} keys revoke k_4fTz81Qa
`,
  import: `Usage: ${PROGRAM} import FILE... --app APP [options]
       ${PROGRAM} import FILE... --url URL --key KEY [options]

Takes in reports, straight into the data directory or, while a server runs on it, through the server.
CSV needs a header; any field of a report may be a column (timestamp_ms and speed_mps are understood too),
other columns are ignored, an empty field is unknown. NDJSON is a report a line. Files that end in .gz or
.zst are decompressed; - is standard input.

  --app APP              the app that the devices belong to (with --url it is the key's)
  --user USER            the user of reports that name none (none)
  --format FORMAT        csv or ndjson (as the names say: .csv, .ndjson, .jsonl)
  --shift-to-now         moves each file by whole days, so that its newest report lies within the last 24 h
  --url URL              a running server
  --key KEY              a key of it with the permission write (WHEREHOUSE_KEY, which other users can't see)
${DATA_DIR}

Reports that are there already count as duplicates and change nothing, so a file can be imported again.
Rows that are no valid report are rejected: the first are shown with line and reason, all are counted. They
fail the command only if no row of a file can be used. Exit code 1 also says that a file could not be read to
its end, that the import was interrupted, or that the data directory or server could not take more.

An interrupted import (Ctrl-C, a crash) goes on where it was, with the same shift, when the same command is
given again. Its state is kept in imports/ in the data directory until then; with --url there too.

Example:
  ${PROGRAM} import monday.csv.gz tuesday.csv.gz --app default --shift-to-now
`,
  seal: `Usage: ${PROGRAM} seal [options]

Moves the days that have left the window of the last 7 days into the archive now, with all late data, deletes
what the retention of 365 days has given up a day ago, and frees the log of what is archived. A running server
does the same by itself; this needs the data directory for itself. Interrupted, it leaves all as it was.
Exit code 1 if a day could not be sealed, since its part of the archive is damaged.

  --json                 what was done as JSON
${DATA_DIR}
`,
  backup: `Usage: ${PROGRAM} backup DIR [options]

Copies the data directory to DIR, also beside a running server: every record that was acknowledged before it
began is in it. The next backup to the same DIR copies only what is new. DIR must be new, empty or a backup,
and lie outside the data directory. On the same file system files of the archive are linked, which takes no
room, but is no second copy of them: for that DIR belongs on another disk.

DIR is a data directory with a backup.json: verify --data-dir DIR reads it whole. Interrupted, or where the
disk is full, the backup that was there before is as it was. Exit code 1 if there is no new backup, or if the
data directory is damaged: it is then backed up as it is, and what is damaged is named.

  --json                 what was done as JSON
${DATA_DIR}

Example:
  ${PROGRAM} backup /mnt/backup/wherehouse
`,
  restore: `Usage: ${PROGRAM} restore DIR [options]

Copies the backup in DIR to a new data directory, which must not be there or be empty. Every file is checked
before the first is written, and the data directory gets its name when all of it is on the disk. A backup that
is not whole is refused, and its bad files are named.

  --json                 what was done as JSON
${DATA_DIR}

Example:
  ${PROGRAM} restore /mnt/backup/wherehouse --data-dir data/restored
`,
  verify: `Usage: ${PROGRAM} verify [options]

Reads the whole data directory, also beside a running server, and changes nothing: what is there, what is
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
up for good: answers go without its records then, and say that they are incomplete.

  --json                 the report as JSON
  --acknowledge          note what was set aside as seen
  --days                 list the records and the SHA-256 of each app and day (--json always does)
  --quick                read log and files, and leave out whether their records agree
${DATA_DIR}
`,
};
