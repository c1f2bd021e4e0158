import { LINK_CODE_MINUTES } from "../../auth/sessions/link-code.ts";
import { CLIENT_NAMES } from "../../clients/client.ts";
import { EXPORT_FORMATS } from "../../service/export/export-formats.ts";
import type { CommandName } from "../commands.ts";
import { FORMAT_NAMES } from "../import/value-kinds.ts";

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

const HELP_COLUMNS = 110;

export const HELP_TEXTS: Readonly<Record<CommandName, HelpText>> = {
  serve: {
    takes: "",
    does: "answer requests",
    before: `Answers requests until it is told to stop (Ctrl-C, SIGTERM), finishes what it accepted, and exits with 0.
In an empty data directory it makes a first key for the app "default": shown once on a terminal, else
written to the file first-key in the data directory. A terminal is shown a link to the map too, which signs in
once. Events go to standard error, one line of JSON each (as sentences where that is a terminal); debug has
one for each request too.`,
    after: `Credentials for the servers of --log are read from WHEREHOUSE_NATS_USER and WHEREHOUSE_NATS_PASSWORD, from
WHEREHOUSE_NATS_TOKEN, or from WHEREHOUSE_NATS_CREDENTIALS, the path of a .creds file.`,
    example: (program) => `${program} serve --port 8080 --cors-origin https://map.example.org`,
  },
  demo: {
    takes: "",
    does: "show recorded devices on the map as if they moved now",
    before: `\
Serves a data directory of its own and plays recordings into it, as devices would report them: buses in
Liverpool, ships round Denmark, a bus in Limerick. Their first half is history that ends now, and the rest
follows as time goes on. At its end each device goes back the way it came. All speeds are so many times
the real ones. Stopped by Ctrl-C and started again, the same devices go on from where they were.

Prints a link that opens the map once, or to a pipe its address and where the key is that signs in there.`,
    example: (program) => `${program} demo --speed 30
  ${program} demo --file rides.csv --data-dir data/demo-rides`,
  },
  "keys create": {
    takes: "",
    does: "make an API key",
    ways: [
      "--app APP --permission NAME...",
      "--app APP --for CLIENT --url URL",
      "--app APP --permission view --show-device DEVICE...",
    ],
    before: `Prints the key alone on standard output. Only its hash is kept, so this is the one time that it is seen.

--for makes a key that may write and no more, and says on standard error what to type into the app; a wide
terminal shows a QR code where the app reads one, others a link. Such a key is on a phone and often in a URL,
so bind it with --device and --user: it then reports as them and nobody else. The apps are
${CLIENT_NAMES.join(", ")}.`,
    after: `A binding is about writing: a bound key that may also read sees all devices of its app.

A key with the permission view is for a share link. It sees where the named devices are and were, from the
instant on that --not-before names until it expires, and nothing else of its app: no users, no phones.
--precision 500 shows cells 500 m wide and whole minutes. An exact link tells where somebody lives.`,
    example: (
      program,
    ) => `KEY=$(${program} keys create --app shop --permission read --permission write --expires 30d)
  ${program} keys create --app shop --for owntracks --device pixel7 --url https://example.org
  ${program} keys create --app shop --permission view --show-device van --expires 12h`,
  },
  "keys list": {
    takes: "",
    does: "show the keys",
    before: `Shows every key, revoked and expired ones too, by its id and last four characters.`,
  },
  "keys link": {
    takes: "[ID]",
    does: "print a link that signs in on the map",
    before: `Prints an address of the map that signs in as a key, once, within ${LINK_CODE_MINUTES} minutes. Without an id that is the
first key that may read and is bound to nobody. The server has to run by then: a restart ends all links.
Who opens the link first is signed in, so send it to nobody by ways that others read.`,
    example: (program) => `${program} keys link
  ${program} keys link --url http://192.168.1.20:3000
  ${program} keys link k_4fTz81Qa --url https://map.example.org`,
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
    before: `Shows what apps sent and could not be used, the newest first: messages, or single points of them. The same
from the same key is one entry, with how often it came. Without --key the server is asked that runs over the
directory, about all of its apps; with --key, or WHEREHOUSE_KEY, it is about the key's app.`,
    example: (program) => `${program} quarantine list --reason future
  ${program} quarantine list --url https://example.org`,
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
    takes: "FILE|DIR|-...",
    does: "take in what others have kept, from files",
    ways: ["--app APP", "--url URL --key KEY"],
    before: `Takes in files, folders and archives, straight into the data directory or, while a server runs on it,
through the server. What a file is, is found out from how it begins. In an empty data directory it makes a
first key for APP, shown once on a terminal, else written to the file first-key there.

Where points are older than the retention it stops before anything is written: settings set retention 10y (or
forever) keeps them, --skip-old leaves them out. --dry-run reads everything and writes nothing. Formats are
${columns(FORMAT_NAMES)}.`,
    after: `What is there already counts as such and changes nothing, so a file can be imported again. What can't be
used is skipped, counted by reason with the first places, and written one by one with --report.

Exit code 0: everything readable went in. 1: a file could not be read to its end, and what came before that
is kept; or the import was interrupted, or the data directory or server could not take more. 2: an option is
wrong or missing, such as the time zone that times are in.

An interrupted import (Ctrl-C, a crash) goes on where it was, with the same shift, when the same command is
given again. Its state is kept in imports/ in the data directory until then; with --url there too.`,
    example: (program) => `${program} import takeout.zip rides/ --app default --dry-run
  ${program} import takeout.zip rides/ --app default`,
  },
  export: {
    takes: "",
    does: "write records to files that other programs read",
    ways: ["--app APP --format FORMAT", "--url URL --key KEY --format FORMAT"],
    before: `\
Writes the records of an app to a file or standard output, from memory and archive alike: straight from the
data directory or, while a server runs on it, through the server. The formats are
${EXPORT_FORMATS.map(({ name }) => name).join(", ")}.
ndjson, csv and parquet have every field and come back by import as they were; the others have what their
readers know. docs/exporting.md says more of each.

A file is written beside its place and gets its name at the end, so a file that is there is whole. The number
of records is printed; with standard output it is the last line of standard error.`,
    after: `--split makes one file for each day, month or device, named by it, and none where there are no records.
Ctrl-C leaves nothing of the file that was being written. Exit code 1 says that a file could not be written
to its end, or that one was there and --force was not given.`,
    example: (program) => `${program} export --app default --format gpx --from 2025-01-01 --out 2025.gpx
  ${program} export --app default --format ndjson --compress zstd --out everything.ndjson.zst`,
  },
  doctor: {
    takes: "",
    does: "say what is wrong with devices, and what helps",
    ways: ["", "--url URL --key KEY"],
    before: `\
Asks a running server what is wrong with the devices of an app: whose clock is off, whose speeds are in
another unit, who repeats itself, whose points are mostly refused, who is silent for much longer than usual.
Each finding says what shows it and what helps. The server looks at what came since it started. Without --key
the server is asked that runs over the directory, about all of its apps; with --key it is about the key's app.

It also asks the address as a phone would, without a key: what stands before the server must not redirect
what phones send. Where the address has https, http of the same host is asked too.`,
    after: `Exit code 1 if anything was found, or if the server can't be asked.`,
    example: (program) => `${program} doctor --url https://example.org`,
  },
  "settings list": {
    takes: "",
    does: "show what the data directory is set to",
    before: `Shows the settings of the data directory, also beside a running server.`,
  },
  "settings set": {
    takes: "NAME VALUE",
    does: "say how long records are kept",
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
  seal: {
    takes: "",
    does: "move what is due into the archive",
    before: `\
Moves the days that have left the window of the last 7 days into the archive now, with all late data, deletes
what went out of the retention a day ago, and frees the log of what is archived. A running server
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
  join: {
    takes: "URL",
    does: "make one more node of a cluster, from a copy of another",
    before: `\
Copies the archive and quarantine of the running node at URL to a data directory that is empty or does not
exist yet, and notes where in the cluster's log to go on. Every file is checked. A copy that was broken off
goes on where it was when the same command is given again. At the end it prints what to start.

A node that was away for too long says at its start that it must copy again: --again copies into its
directory, and files that it already has are not sent. Its archive is replaced once the copy is complete.`,
    example: (program) => `${program} join https://node-a.example.org --data-dir /var/lib/wherehouse`,
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
  "cluster init": {
    takes: "",
    does: "move the data directory into a cluster of several nodes",
    before: `\
Turns the data directory into the first node of a cluster, whose log is a stream on NATS servers. What the
archive does not hold yet is published to the stream, in the order of the log; keys, settings and pass phrases
are then shared by all nodes. No server may run on the directory meanwhile, and the stream must be new: it is
created.

Interrupted anywhere, the directory is as it was, and the same command goes on: what is in the stream already
is compared with the log, so nothing is in it twice. At the end the log is renamed to wal.before-cluster.

Credentials for the servers are read from WHEREHOUSE_NATS_USER and WHEREHOUSE_NATS_PASSWORD, from
WHEREHOUSE_NATS_TOKEN, or from WHEREHOUSE_NATS_CREDENTIALS, the path of a .creds file.`,
    after: `Exit code 1 if the directory did not become a node: log or archive is damaged, the stream belongs to others,
or the servers can't be used.`,
    example: (program) =>
      `${program} cluster init --log nats://n1.example,n2.example,n3.example --stream wherehouse`,
  },
  "cluster nodes": {
    takes: "",
    does: "list the nodes of a cluster",
    before: `\
Lists every node of the cluster that the data directory belongs to, as each told last: where it is, its
version, how far it lags, and the first message of the log that it needs. The log is kept for all of them,
also for those that stopped, until --node-timeout. One that told nothing for 30 s is silent.`,
  },
};

/** Words in lines that fit. */
function columns(words: readonly string[]): string {
  const lines = [""];
  for (const [index, word] of words.entries()) {
    const text = index < words.length - 1 ? `${word},` : word;
    const line = lines.at(-1)!;
    if (line.length + text.length + 1 > HELP_COLUMNS) lines.push(text);
    else lines[lines.length - 1] = line === "" ? text : `${line} ${text}`;
  }
  return lines.join("\n");
}
