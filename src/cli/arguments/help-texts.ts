import { CLIENT_NAMES } from "../../clients/client.ts";
import type { CommandName } from "./flag-table.ts";

/** What help tells of a command beside its flags. */
export interface HelpText {
  /** Its arguments, as usage shows them. */
  readonly takes: string;
  /** For the list of all commands. */
  readonly does: string;
  /** Ways to give it, where its required flags don't tell. */
  readonly ways?: readonly string[];
  /** Paragraphs before the flags. */
  readonly before: string;
  /** Paragraphs after them. */
  readonly after?: string;
  /** Command lines, of this program. */
  readonly example?: (program: string) => string;
}

export const HELP_TEXTS: Readonly<Record<CommandName, HelpText>> = {
  serve: {
    takes: "",
    does: "answer requests",
    before: `Answers requests until it is told to stop (Ctrl-C, SIGTERM), finishes what it accepted, and exits with 0.
In an empty data directory it makes a first key for the app "default": shown once on a terminal, else
written to the file first-key in the data directory. Events go to standard error, one line of JSON each (as
sentences where that is a terminal); debug has one for each request too.`,
    example: (program) => `${program} serve --port 8080 --cors-origin https://map.example.org`,
  },
  "keys create": {
    takes: "",
    does: "make an API key",
    ways: ["--app APP --permission NAME...", "--app APP --for CLIENT --url URL"],
    before: `Prints the key alone on standard output. Only its hash is kept, so this is the one time that it is seen.

--for makes a key that may write and no more, and says on standard error what to type into the app; a wide
terminal shows a QR code where the app reads one, others a link. Such a key is on a phone and often in a URL,
so bind it with --device and --user: it then reports as them and nobody else. The apps are
${CLIENT_NAMES.join(", ")}.`,
    after: `A binding is about writing: a bound key that may also read sees all devices of its app.`,
    example: (
      program,
    ) => `KEY=$(${program} keys create --app shop --permission read --permission write --expires 30d)
  ${program} keys create --app shop --for owntracks --device pixel7 --url https://example.org`,
  },
  "keys list": {
    takes: "",
    does: "show the keys",
    before: `Shows every key, revoked and expired ones too, by its id and last four characters.`,
  },
  "keys revoke": {
    takes: "ID",
    does: "end a key",
    before: `Ends a key for good. A running server refuses it within 2 seconds. Revoking again changes nothing.`,
    example: (program) => `${program} keys revoke k_4fTz81Qa`,
  },
  "keys passphrase": {
    takes: "ID",
    does: "say what a phone encrypts with",
    before: `Reads the pass phrase that is typed into OwnTracks ("encryption key") from a prompt or standard input, and
opens with it what devices of the key, or that one, send from then on. It is kept readable in the file
pass-phrases.json in the data directory, mode 0600; a running server knows it within 2 seconds. What a broker
brings is opened with the pass phrases of all keys of its app. The app uses the first 32 bytes.`,
    example: (program) => `${program} keys passphrase k_4fTz81Qa --device pixel7 < phrase`,
  },
  "quarantine list": {
    takes: "",
    does: "show what nobody could use",
    before: `Shows what apps sent and could not be used, of the key's app and the newest first: messages, or single
points of them. The same from the same key is one entry, with how often it came.`,
    example: (program) => `${program} quarantine list --url https://example.org --reason future`,
  },
  "quarantine show": {
    takes: "ID",
    does: "show one entry with what was sent",
    before: `Prints the body on standard output and the rest on standard error. Control characters are shown as U+FFFD;
--json has all as it came.`,
  },
  "quarantine replay": {
    takes: "ID...",
    does: "try entries again",
    before: `Tries entries again, or with --all every one, as if they had come only now, but with their own times. An
entry goes once its points are on disk; what still can't be used stays.`,
    after: "Exit code 1 if any stays, or if the server can't be asked.",
    example: (program) => `${program} quarantine replay --all --reason undecryptable`,
  },
  "quarantine delete": {
    takes: "ID...",
    does: "delete entries for good",
    before:
      "Deletes entries, or with --all every one that the other options let through. Nothing of them is kept.",
    example: (program) => `${program} quarantine delete --all --device pixel7`,
  },
  import: {
    takes: "FILE...",
    does: "take in reports from files",
    ways: ["--app APP", "--url URL --key KEY"],
    before: `Takes in reports, straight into the data directory or, while a server runs on it, through the server.
CSV needs a header; any field of a report may be a column (timestamp_ms and speed_mps are understood too),
other columns are ignored, an empty field is unknown. NDJSON is a report a line. Files that end in .gz or
.zst are decompressed; - is standard input. In an empty data directory it makes a first key for APP, shown
once on a terminal, else written to the file first-key there.`,
    after: `Reports that are there already count as duplicates and change nothing, so a file can be imported again.
Rows that are no valid report are rejected: the first are shown with line and reason, all are counted. They
fail the command only if no row of a file can be used. Exit code 1 also says that a file could not be read to
its end, that the import was interrupted, or that the data directory or server could not take more.

An interrupted import (Ctrl-C, a crash) goes on where it was, with the same shift, when the same command is
given again. Its state is kept in imports/ in the data directory until then; with --url there too.`,
    example: (program) => `${program} import monday.csv.gz tuesday.csv.gz --app default --shift-to-now`,
  },
  doctor: {
    takes: "",
    does: "say what is wrong with devices, and what helps",
    ways: ["--url URL --key KEY"],
    before: `\
Asks a running server what is wrong with the devices of the key's app: whose clock is off, whose speeds are in
another unit, who repeats itself, whose points are mostly refused, who is silent for much longer than usual.
Each finding says what shows it and what helps. The server looks at what came since it started.

It also asks the address as a phone would, without a key: what stands before the server must not redirect
what phones send. Where the address has https, http of the same host is asked too.`,
    after: `Exit code 1 if anything was found, or if the server can't be asked.`,
    example: (program) => `${program} doctor --url https://example.org`,
  },
  seal: {
    takes: "",
    does: "move what is due into the archive",
    before: `\
Moves the days that have left the window of the last 7 days into the archive now, with all late data, deletes
what the retention of 365 days has given up a day ago, and frees the log of what is archived. A running server
does the same by itself; this needs the data directory for itself. Interrupted, it leaves all as it was.
Exit code 1 if a day could not be sealed, since its part of the archive is damaged.`,
  },
  backup: {
    takes: "DIR",
    does: "copy the data directory, also beside a running server",
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
  restore: {
    takes: "DIR",
    does: "make a data directory from a backup",
    before: `\
Copies the backup in DIR to a new data directory, which must not be there or be empty. Every file is checked
before the first is written, and the data directory gets its name when all of it is on the disk. A backup that
is not whole is refused, and its bad files are named.`,
    example: (program) => `${program} restore /mnt/backup/wherehouse --data-dir data/restored`,
  },
  verify: {
    takes: "",
    does: "look through the data directory for damage",
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
};
