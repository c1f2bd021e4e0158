import { expect, test } from "bun:test";
import { RUNTIMES } from "../../support/server-process.ts";
import { parsePhonesCommand } from "./run/command-line.ts";

function parsed(words: string) {
  const command = parsePhonesCommand(words === "" ? [] : words.split(" "), 1_234_567);
  if (!command.ok) return command.error;
  if (command.value.kind === "help") return command.value;
  return { ...command.value, runtimes: command.value.runtimes.map(({ name }) => name) };
}

test("parsePhonesCommand() reads how long and on what; a day on both runtimes where nothing is said", () => {
  const both = RUNTIMES.map(({ name }) => name); // One alone, if an executable is tested.
  expect(parsed("")).toEqual({ kind: "run", minutes: 24, runtimes: both, seed: 234_567 });
  const last = both.at(-1)!;
  const given = parsed(`--minutes 60 --runtime ${last.toLowerCase()} --seed 3`);
  expect(given).toEqual({ kind: "run", minutes: 60, runtimes: [last], seed: 3 });
  expect(parsed("--help")).toEqual({ kind: "help" });
});

test("parsePhonesCommand() refuses in one line what it can't do", () => {
  for (const [words, line] of [
    ["--minutes many", /^--minutes and --seed take a whole number/],
    ["--seed 0", /^--minutes and --seed take a whole number/],
    ["--runtime node", /^--runtime is bun, deno or both\.$/],
    ["now", /^Unexpected argument "now"\. See --help\.$/],
    ["--fast", /^Unknown option --fast\. See --help\.$/],
  ] as const) {
    expect(parsed(words)).toMatch(line);
  }
});
