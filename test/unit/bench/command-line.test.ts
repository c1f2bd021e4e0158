import { expect, test } from "bun:test";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { Bench } from "../../../bench/support/run/bench.ts";
import { flagOf, parseCommandLine, resultsFileIn } from "../../../bench/support/run/command-line.ts";
import { benchHelpText, helpText } from "../../../bench/support/run/help.ts";

const run = async () => {};
const size = (help: string) => ({ help, smoke: 0.2, full: 4 });
const BENCHES = new Map<string, Bench>([
  [
    "first",
    {
      question: "is it first?",
      sizes: { devices: size("how many"), dayMinutes: size("minutes") },
      choices: { dayPart: { help: "when", values: ["morning", "night"] } },
      run,
    },
  ],
  ["second", { question: "is it second?", sizes: { devices: size("of them"), seconds: size("long") }, run }],
]);

function parse(...args: string[]) {
  return parseCommandLine(args, BENCHES);
}

function errorOf(...args: string[]): string | null {
  const parsed = parse(...args);
  return parsed.ok ? null : parsed.error;
}

test("parseCommandLine() takes all benches where none is named, and each once", () => {
  expect(parse()).toEqual({
    ok: true,
    value: {
      kind: "run",
      names: ["first", "second"],
      isSmoke: false,
      isProfiled: false,
      given: new Map(),
      chosen: new Map(),
      save: null,
      against: null,
    },
  });
  expect(parse("second", "second", "--smoke", "--profile", "--save", "a.json", "--against=b.json")).toEqual({
    ok: true,
    value: {
      kind: "run",
      names: ["second"],
      isSmoke: true,
      isProfiled: true,
      given: new Map(),
      chosen: new Map(),
      save: "a.json",
      against: "b.json",
    },
  });
});

test("parseCommandLine() takes a size for the benches that know it", () => {
  const parsed = parse("--devices", "7", "first", "second", "--day-minutes=0.5");
  expect(parsed).toMatchObject({
    ok: true,
    value: {
      given: new Map([
        ["devices", 7],
        ["dayMinutes", 0.5],
      ]),
    },
  });
});

test("parseCommandLine() takes parts of the benches that have them, several of a kind", () => {
  expect(parse("first", "--day-part", "night", "--day-part=morning")).toMatchObject({
    ok: true,
    value: { chosen: new Map([["dayPart", ["night", "morning"]]]) },
  });
});

test("parseCommandLine() explains a mistake in a line", () => {
  expect(errorOf("third")).toBe("There is no bench third. There are: first, second.");
  expect(errorOf("--devises", "7")).toBe("Unknown option --devises. See --help.");
  expect(errorOf("--devices")).toBe("--devices needs a value. See --help.");
  expect(errorOf("--devices", "7", "--devices", "8")).toBe("--devices is given twice. See --help.");
  expect(errorOf("--devices", "seven")).toBe('--devices takes a number, and "seven" is none.');
  expect(errorOf("--devices=-7")).toBe('--devices takes a number, and "-7" is none.');
  expect(errorOf("first", "--seconds", "7")).toBe("--seconds is no flag of first, but of second.");
  expect(errorOf("second", "--day-part", "night")).toBe("--day-part is no flag of second, but of first.");
  expect(errorOf("--day-part", "noon")).toBe('--day-part takes morning, night, and "noon" is none of them.');
  expect(errorOf("--save", "a.json")).toStartWith("--save needs a folder for several benches");
  expect(errorOf("--against", "a.json")).toStartWith("--against needs a folder for several benches");
  expect(errorOf("--save", "new/", "--against", tmpdir())).toBeNull();
});

test("parseCommandLine() takes --help before all but a wrong name", () => {
  expect(parse("--help")).toEqual({ ok: true, value: { kind: "help", names: [] } });
  expect(parse("first", "--seconds", "x", "-h")).toEqual({
    ok: true,
    value: { kind: "help", names: ["first"] },
  });
  expect(errorOf("third", "--help")).toStartWith("There is no bench third.");
});

test("flagOf() writes a size as flags are written", () => {
  expect(["devices", "dayMinutes", "sliceMs"].map(flagOf)).toEqual(["devices", "day-minutes", "slice-ms"]);
});

test("resultsFileIn() has a file for each bench in a folder, which may be new", () => {
  expect(resultsFileIn("a.json", "first")).toBe("a.json");
  expect(resultsFileIn("new/", "first")).toBe("new/first.json");
  expect(resultsFileIn(tmpdir(), "first")).toBe(join(tmpdir(), "first.json"));
});

test("helpText() lists every question, and benchHelpText() every size", () => {
  expect(helpText(BENCHES)).toContain("  first   is it first?\n  second  is it second?\n");
  const text = benchHelpText("first", BENCHES);
  expect(text).toContain("is it first?\n");
  expect(text).toContain(
    "  --devices N      how many (4; smoke 0.2)\n  --day-minutes N  minutes (4; smoke 0.2)\n  --day-part NAME  when\n",
  );
  expect(text).toContain("\nday-part:\n  morning, night\n");
  for (const flag of ["--smoke", "--save FILE", "--against FILE", "--profile"]) expect(text).toContain(flag);
});
