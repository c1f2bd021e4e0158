import { printableLine } from "../lib/text/printable.ts";
import type { Flag, FlagRows } from "./arguments/flag-row.ts";
import { HELP_TEXTS } from "./arguments/help-texts.ts";
import { NPM_PROGRAM } from "./arguments/program.ts";
import { COMMON_FLAGS, type CommandName, FLAGS, isCommandName } from "./commands.ts";
import type { HelpTopic, UsageError } from "./parse-command.ts";

/** What `--help` shows: the texts of commands, and a line for each row of the table of flags. */
export function helpText(topic: HelpTopic | null, program: string): string {
  if (topic === null) return overview(program);
  if (topic === "keys") return keysHelp(program);
  if (topic === "settings") return settingsHelp(program);
  if (topic === "cluster") return clusterHelp(program);
  return topic === "quarantine" ? quarantineHelp(program) : commandHelp(topic, program);
}

/** What is wrong with a command line, and where to look. */
export function usageErrorText({ message, topic }: UsageError, program: string): string {
  return `${printableLine(message)}.\nTry: ${program} ${topic === null ? "" : `${topic} `}--help\n`;
}

/** The default of a flag and where it comes from, as documents show it too; empty where it has neither. */
export function defaultText({ takes, default: byDefault, otherwise }: Flag): string {
  if (otherwise !== undefined) return otherwise;
  if (takes === undefined || byDefault === undefined) return "";
  return takes.format?.(byDefault) ?? String(byDefault);
}

/** What a flag does, with all that it may be and whether it may be given again. */
export function sentenceOf({ does, takes, repeats }: Flag): string {
  const choices = takes?.choices === undefined ? "" : `: ${takes.choices.join(", ")}`;
  return `${does}${choices}${repeats ? "; repeatable" : ""}`;
}

function overview(program: string): string {
  return `Wherehouse: where devices are, where they were, and who is near.

Usage: ${program} COMMAND [options]${program === NPM_PROGRAM ? "" : `\n       ${NPM_PROGRAM} COMMAND [options]   (without Bun installed)`}

${commandLines(() => true)}

Options of every command:
${flagLines(COMMON_FLAGS)}

Results go to standard output, everything else to standard error.
Exit code: 0 done, 1 failed, 2 the command line is wrong.

Example:
  ${program} import tracks.csv.gz --app default --shift-to-now
  ${program} serve
`;
}

function keysHelp(program: string): string {
  return `Usage: ${program} keys ${verbsOf("keys")} [options]

Changes act on a running server within 2 seconds.

${commandLines((name) => name.startsWith("keys "))}

Help on each: ${program} keys create --help
`;
}

function quarantineHelp(program: string): string {
  return `Usage: ${program} quarantine ${verbsOf("quarantine")} [options]

What apps sent to a running server and nobody could use is kept for 90 days at most.

${commandLines((name) => name.startsWith("quarantine "))}

Help on each: ${program} quarantine list --help
`;
}

function settingsHelp(program: string): string {
  return `Usage: ${program} settings ${verbsOf("settings")} [options]

Settings belong to the data directory. Changes act on a running server within 2 seconds.

${commandLines((name) => name.startsWith("settings "))}

Help on each: ${program} settings set --help
`;
}

function clusterHelp(program: string): string {
  return `Usage: ${program} cluster ${verbsOf("cluster")} [options]

${commandLines((name) => name.startsWith("cluster "))}

Help on each: ${program} cluster init --help
`;
}

/** The commands of a group, as usage shows them. */
function verbsOf(group: string): string {
  const names = Object.keys(FLAGS).filter((name) => name.startsWith(`${group} `));
  return names.map((name) => name.slice(group.length + 1)).join("|");
}

function commandHelp(name: CommandName, program: string): string {
  const { before, after, example } = HELP_TEXTS[name];
  const rows: FlagRows = FLAGS[name];
  const sections = [
    usageOf(name, program),
    before,
    flagLines({ ...rows, dataDir: rows.dataDir ?? COMMON_FLAGS.dataDir }),
    after,
    example === undefined ? undefined : `Example:\n  ${example(program)}`,
  ];
  return `${sections.filter((section) => section !== undefined).join("\n\n")}\n`;
}

function usageOf(name: CommandName, program: string): string {
  const { takes, ways = [requiredFlags(FLAGS[name])] } = HELP_TEXTS[name];
  const lines = ways.map((way) =>
    [program, name, takes, way, "[options]"].filter((word) => word !== "").join(" "),
  );
  return `Usage: ${lines.join("\n       ")}`;
}

function requiredFlags(rows: FlagRows): string {
  const required = Object.values(rows).filter((row) => row.required);
  return required.map((row) => `${writtenAs(row)}${row.repeats ? "..." : ""}`).join(" ");
}

function commandLines(isShown: (name: CommandName) => boolean): string {
  const names = Object.keys(HELP_TEXTS).filter(isCommandName).filter(isShown);
  return twoColumns(
    names.map((name) => [`${name} ${HELP_TEXTS[name].takes}`.trimEnd(), HELP_TEXTS[name].does]),
  );
}

function flagLines(rows: FlagRows): string {
  return twoColumns(
    Object.values(rows).map((row) => {
      const note = [defaultText(row), row.variable ?? ""].filter((text) => text !== "").join("; ");
      return [writtenAs(row), note === "" ? sentenceOf(row) : `${sentenceOf(row)} (${note})`];
    }),
  );
}

/** `--port PORT`. */
function writtenAs({ name, takes }: Flag): string {
  return takes === undefined ? `--${name}` : `--${name} ${takes.placeholder}`;
}

/** Names on the left; what they do on the right, on as many lines as it needs. */
function twoColumns(rows: readonly (readonly [what: string, does: string])[]): string {
  const width = Math.max(...rows.map(([what]) => what.length));
  const nextLine = `\n${" ".repeat(width + 4)}`;
  return rows
    .map(([what, does]) => `  ${what.padEnd(width)}  ${wrapped(does, COLUMNS - width - 4).join(nextLine)}`)
    .join("\n");
}

function wrapped(text: string, columns: number): string[] {
  const lines: string[] = [];
  for (const word of text.split(" ")) {
    const last = lines.at(-1);
    if (last !== undefined && last.length + 1 + word.length <= columns)
      lines[lines.length - 1] = `${last} ${word}`;
    else lines.push(word);
  }
  return lines;
}

/** The paragraphs of help texts keep to it, too. */
const COLUMNS = 110;
