import { COMMON_FLAGS, type Command } from "../../../src/cli/arguments/command.ts";
import type { Flag, FlagRows } from "../../../src/cli/arguments/flag-row.ts";
import { COMMANDS } from "../../../src/cli/commands.ts";
import { defaultText, sentenceOf, usageLines, writtenAs } from "../../../src/cli/help.ts";

/** How the pages for operators write the program. */
const PROGRAM = "wherehouse";

/** Every command with its usage, its help and its options, from the definitions that `--help` is made of. */
export function commandReference(): string {
  const list = COMMANDS.map(
    ({ name, summary }) => `- [\`${name}\`](#${name.replaceAll(" ", "-")}): ${summary}`,
  );
  const common = `## Options of every command\n\n${optionTable(COMMON_FLAGS)}`;
  return [list.join("\n"), common, ...COMMANDS.map(commandSection)].join("\n\n");
}

function commandSection(command: Command): string {
  const { name, flags, help } = command;
  const parts = [
    `## ${name}`,
    codeBlock(usageLines(command, PROGRAM).join("\n")),
    help.before,
    Object.keys(flags).length === 0 ? undefined : optionTable(flags),
    help.after,
    help.example === undefined ? undefined : codeBlock(help.example(PROGRAM).replaceAll(/^ +/gm, "")),
  ];
  return parts.filter((part) => part !== undefined).join("\n\n");
}

function codeBlock(text: string): string {
  return `\`\`\`console\n${text}\n\`\`\``;
}

function optionTable(rows: FlagRows): string {
  const lines = Object.values(rows).map((row) => `| ${cellsOf(row).join(" | ")} |`);
  return ["| option | default | |", "|---|---|---|", ...lines].join("\n");
}

function cellsOf(flag: Flag): readonly string[] {
  const { variable, goesWith } = flag;
  return [
    `\`${writtenAs(flag)}\`${variable === undefined ? "" : `, \`${variable}\``}`,
    defaultCell(flag),
    `${sentenceOf(flag)}${goesWith === undefined ? "" : `; goes with \`--${goesWith}\``}`,
  ].map((cell) => cell.replaceAll("|", "\\|"));
}

function defaultCell(flag: Flag): string {
  if (flag.required) return "required";
  const value = defaultText(flag);
  return flag.otherwise ?? (value === "" ? "" : `\`${value}\``);
}
