import { assert } from "../lib/assert.ts";
import { printableLine } from "../lib/text/printable.ts";
import { isExecutable } from "../runtime/helper/executable.ts";
import { COMMON_FLAGS, type Command } from "./arguments/command.ts";
import type { Environment, Flag, FlagRows } from "./arguments/flag-row.ts";
import { COMMANDS, type CommandGroup, commandsOf, findCommand, findGroup } from "./commands.ts";

/* Help texts: the paragraphs of a command, and a line for each of its flags. */

/** The words that start this program if Bun is not installed. */
export const NPM_PROGRAM = "npm run --silent cli --";
/** Those if it is. */
const BUN_PROGRAM = "bun src/main.ts";

/**
 * The words that start this program, so that a person can paste printed commands. npm names the script that it runs.
 */
export function programOf({ npm_package_name: name, npm_lifecycle_event: script }: Environment): string {
  if (isExecutable) return "wherehouse";
  if (name === "wherehouse" && script === "npx") return "npx wherehouse";
  const isOurs = name === "wherehouse" && (script === "cli" || script === "start" || script === "demo");
  return isOurs ? NPM_PROGRAM : BUN_PROGRAM;
}

/** What is wrong with a command line, in one line. */
export interface UsageError {
  readonly message: string;
  /** The command or the group whose help to read; null for the overview. */
  readonly topic: string | null;
}

export function usageErrorText({ message, topic }: UsageError, program: string): string {
  return `${printableLine(message)}.\nTry: ${program} ${topic === null ? "" : `${topic} `}--help\n`;
}

/** The help of a command or of a group, by name; null is the overview. */
export function helpText(topic: string | null, program: string): string {
  if (topic === null) return overview(program);
  const group = findGroup(topic);
  if (group !== null) return groupHelp(group, program);
  const command = findCommand(topic);
  assert(command !== null, "the topic of help exists");
  return commandHelp(command, program);
}

/** The default of a flag as help and documents show it; empty if it has none. */
export function defaultText({ takes, default: byDefault, otherwise }: Flag): string {
  if (otherwise !== undefined) return otherwise;
  if (takes === undefined || byDefault === undefined) return "";
  return takes.format?.(byDefault) ?? String(byDefault);
}

/** What a flag does, with its choices. */
export function sentenceOf({ does, takes, repeats }: Flag): string {
  const choices = takes?.choices === undefined ? "" : `: ${takes.choices.join(", ")}`;
  return `${does}${choices}${repeats ? "; repeatable" : ""}`;
}

function overview(program: string): string {
  return `Wherehouse: where devices are, where they were, and which are nearby.

Usage: ${program} COMMAND [options]${program === BUN_PROGRAM ? `\n       ${NPM_PROGRAM} COMMAND [options]   (without Bun installed)` : ""}

${commandLines(COMMANDS)}

Options of every command:
${flagLines(COMMON_FLAGS)}

Results go to standard output, messages to standard error.
Exit code: 0 success, 1 failure, 2 wrong command line.

Example:
  ${program} import tracks.csv.gz --app default --shift-to-now
  ${program} serve
`;
}

function groupHelp({ name, about, example }: CommandGroup, program: string): string {
  const commands = commandsOf(name);
  const verbs = commands.map((command) => command.name.slice(name.length + 1));
  const sections = [
    `Usage: ${program} ${name} ${verbs.join("|")} [options]`,
    about,
    commandLines(commands),
    `Help on each: ${program} ${example} --help`,
  ];
  return `${sections.filter((section) => section !== "").join("\n\n")}\n`;
}

function commandHelp(command: Command, program: string): string {
  const { before, after, example } = command.help;
  const rows = command.flags;
  const sections = [
    `Usage: ${usageLines(command, program).join("\n       ")}`,
    before,
    flagLines({ ...rows, dataDir: rows.dataDir ?? COMMON_FLAGS.dataDir }),
    after,
    example === undefined ? undefined : `Example:\n  ${example(program)}`,
  ];
  return `${sections.filter((section) => section !== undefined).join("\n\n")}\n`;
}

/** Each way to give a command. */
export function usageLines({ name, takes, flags, help }: Command, program: string): readonly string[] {
  const { ways = [requiredFlags(flags)] } = help;
  return ways.map((way) => [program, name, takes, way, "[options]"].filter((word) => word !== "").join(" "));
}

function requiredFlags(rows: FlagRows): string {
  const required = Object.values(rows).filter((row) => row.required);
  return required.map((row) => `${writtenAs(row)}${row.repeats ? "..." : ""}`).join(" ");
}

function commandLines(commands: readonly Command[]): string {
  return twoColumns(commands.map(({ name, takes, summary }) => [`${name} ${takes}`.trimEnd(), summary]));
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
export function writtenAs({ name, takes }: Flag): string {
  return takes === undefined ? `--${name}` : `--${name} ${takes.placeholder}`;
}

/** Names on the left, wrapped descriptions on the right. */
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

/** The width of all help texts. Their paragraphs are wrapped by hand. */
const COLUMNS = 110;
