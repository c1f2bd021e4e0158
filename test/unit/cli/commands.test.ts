import { expect, test } from "bun:test";
import { COMMON_FLAGS } from "../../../src/cli/arguments/command.ts";
import type { Flag } from "../../../src/cli/arguments/flag-row.ts";
import { COMMANDS } from "../../../src/cli/commands.ts";
import { defaultText, helpText, sentenceOf } from "../../../src/cli/help.ts";

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
  const start = lines.findIndex((line) => line.startsWith("  --reason REASON  only messages"));
  const column = lines[start]!.indexOf("only messages");
  expect(lines[start + 1]).toMatch(new RegExp(`^ {${column}}[^ ].*undecryptable, erased$`));
  expect(lines[start + 2]).toMatch(new RegExp(`^ {${column}}\\(all\\)$`));
  expect(lines[start + 3]!.indexOf("only messages")).toBe(column);
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
    "20mi",
    "3000",
    "127.0.0.1",
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
