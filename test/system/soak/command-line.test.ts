import { expect, test } from "bun:test";
import { parseSoakCommand } from "./support/command-line.ts";

function parsed(words: string) {
  const args = words === "" ? [] : words.split(" ");
  const command = parseSoakCommand(args, 1_234_567);
  if (!command.ok) return command.error;
  if (command.value.kind === "help") return command.value;
  return { ...command.value, runtimes: command.value.runtimes.map(({ name }) => name) };
}

test("parseSoakCommand() reads rounds, and runs both runtimes where none is named", () => {
  const both: ("Bun" | "Deno")[] = ["Bun", "Deno"];
  expect(parsed("")).toEqual({ kind: "rounds", rounds: 200, runtimes: both, seed: 234_567 });
  expect(parsed("--rounds 5 --runtime deno --seed 3")).toEqual({
    kind: "rounds",
    rounds: 5,
    runtimes: ["Deno"],
    seed: 3,
  });
  expect(parsed("--help")).toEqual({ kind: "help" });
});

test("parseSoakCommand() reads how often erasures are killed", () => {
  expect(parsed("--erasures 130 --runtime bun --seed 4")).toEqual({
    kind: "erasures",
    kills: 130,
    runtimes: ["Bun"],
    seed: 4,
  });
});

test("parseSoakCommand() reads how long memory is watched, and where that is kept", () => {
  expect(parsed("--memory 60m --runtime bun --seed 1 --save out/hour")).toEqual({
    kind: "memory",
    durationMs: 3_600_000,
    runtimes: ["Bun"],
    seed: 1,
    save: "out/hour",
  });
});

test("parseSoakCommand() refuses in one line what it can't do", () => {
  for (const [words, line] of [
    ["--rounds many", /^--rounds and --seed take a whole number/],
    ["--rounds 0", /^--rounds and --seed take a whole number/],
    ["--runtime node", /^--runtime is bun, deno or both\.$/],
    ["--memory long", /^--memory takes a time such as 60m, and "long" is none\.$/],
    ["--memory 1m --rounds 3", /has no --rounds\.$/],
    ["--memory 1m --save a", /^--save keeps one run/],
    ["--erasures none", /^--erasures takes a whole number/],
    ["--erasures 5 --memory 1m", /^--erasures does not go with --memory\.$/],
    ["--save a", /^--save goes with --memory\.$/],
    ["now", /^Unexpected argument "now"\. See --help\.$/],
    ["--fast", /^Unknown option --fast\. See --help\.$/],
  ] as const) {
    expect(parsed(words)).toMatch(line);
  }
});
