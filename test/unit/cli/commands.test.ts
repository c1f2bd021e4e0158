import { expect, test } from "bun:test";
import { existsSync, readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { COMMON_FLAGS } from "../../../src/cli/arguments/command.ts";
import type { Flag } from "../../../src/cli/arguments/flag-row.ts";
import { COMMANDS } from "../../../src/cli/commands.ts";
import { defaultText, helpText, sentenceOf } from "../../../src/cli/help.ts";
import { SERVE } from "../../../src/cli/serve/command.ts";

const ROOT = join(import.meta.dir, "../../..");
const HEADER = "| flag | environment | default | |";

/** README.md and the pages of docs/. */
function documents(): string[] {
  const docs = join(ROOT, "docs");
  const pages = existsSync(docs) ? readdirSync(docs).filter((name) => name.endsWith(".md")) : [];
  const paths = [join(ROOT, "README.md"), ...pages.map((name) => join(docs, name))];
  return paths.map((path) => readFileSync(path, "utf8"));
}

function documentRow(flag: Flag): string {
  const quoted = (text: string) => (text === "" ? "" : `\`${text}\``);
  const byDefault = flag.otherwise ?? quoted(defaultText(flag));
  const cells = [`\`--${flag.name}\``, quoted(flag.variable ?? ""), byDefault, sentenceOf(flag)];
  return `|${cells.map((cell) => (cell === "" ? " " : ` ${cell} `)).join("|")}|`;
}

test("the documents have the table of what serve is given, row by row", () => {
  const rows = [COMMON_FLAGS.dataDir, ...Object.values(SERVE.flags)].map(documentRow);
  const tables = documents().flatMap((page) => {
    const start = page.indexOf(HEADER);
    return start < 0 ? [] : [page.slice(start, page.indexOf("\n\n", start))];
  });
  expect(tables).toEqual([[HEADER, "|---|---|---|---|", ...rows].join("\n")]);
});

test("help has a line for every flag of a command, with its variable and what it does", () => {
  for (const { name, flags } of COMMANDS) {
    const lines = helpText(name, "wherehouse")
      .replace(/\n {5,}/g, " ")
      .split("\n");
    for (const flag of Object.values<Flag>({ dataDir: COMMON_FLAGS.dataDir, ...flags })) {
      const own = lines.filter((line) => new RegExp(`^  --${flag.name}( |$)`).test(line));
      expect(own, `${name} --${flag.name}`).toHaveLength(1);
      expect(own[0]).toContain(sentenceOf(flag));
      expect(own[0]).toContain(flag.variable ?? "");
    }
  }
});

test("help is in two columns, and what is too long goes on under its beginning", () => {
  const lines = helpText("quarantine list", "wherehouse").split("\n");
  const start = lines.findIndex((line) => line.startsWith("  --reason REASON  only what"));
  const column = lines[start]!.indexOf("only what");
  expect(lines[start + 1]).toMatch(new RegExp(`^ {${column}}[^ ].*undecryptable \\(all\\)$`));
  expect(lines[start + 2]!.indexOf("only what")).toBe(column);
});

test("a default is a value that its flag takes, written as it is shown", () => {
  const shown: string[] = [];
  for (const rows of [COMMON_FLAGS, ...COMMANDS.map(({ flags }) => flags)]) {
    for (const flag of Object.values<Flag>(rows)) {
      if (flag.default === undefined || flag.otherwise !== undefined) continue;
      const text = defaultText(flag);
      expect(flag.takes?.parse(text, flag.name)).toEqual({ ok: true, value: flag.default });
      shown.push(text);
    }
  }
  expect(shown).toEqual([
    "data/local",
    "3000",
    "127.0.0.1",
    "1h",
    "2",
    "1GB",
    "1000",
    "wherehouse",
    "16GB",
    "1w",
    "1024",
    "info",
    "20",
    "data/demo",
    "standard",
    "64GiB",
    "-", // Of export.
    "30m",
    "wherehouse",
    "16GB",
  ]);
});

test("a command names no flag twice, and none that goes with one it lacks", () => {
  for (const { flags } of COMMANDS) {
    // A command's own row takes the place of a common flag's.
    const rows = Object.values<Flag>({ ...COMMON_FLAGS, ...flags });
    const names = rows.map(({ name }) => name);
    expect(names).toEqual([...new Set(names)]);
    for (const { goesWith } of rows) if (goesWith !== undefined) expect(names).toContain(goesWith);
  }
});
