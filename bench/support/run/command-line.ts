import { existsSync, statSync } from "node:fs";
import { join } from "node:path";
import { type FlagKind, type Flags, parseFlags } from "../../../src/cli/arguments/flags.ts";
import { fail, ok, type Result } from "../../../src/lib/result.ts";
import type { Bench } from "./bench.ts";

/** Benches by name, in their order. */
export type Benches = ReadonlyMap<string, Bench>;

export type BenchCommand =
  /** Help for these benches; empty for the general help. */
  { readonly kind: "help"; readonly names: readonly string[] } | RunCommand;

export interface RunCommand {
  readonly kind: "run";
  readonly names: readonly string[];
  readonly isSmoke: boolean;
  readonly isProfiled: boolean;
  /** Sizes by name. */
  readonly given: ReadonlyMap<string, number>;
  /** Selected values by name. */
  readonly chosen: ReadonlyMap<string, readonly string[]>;
  /** A file, or a folder with a file for each bench; null if not given. */
  readonly save: string | null;
  readonly against: string | null;
}

const COMMON_FLAGS: Readonly<Record<string, FlagKind>> = {
  smoke: "switch",
  save: "value",
  against: "value",
  profile: "switch",
  help: "switch",
};

/** Parses the arguments after `npm run bench --`; the error is one line. */
export function parseCommandLine(args: readonly string[], benches: Benches): Result<BenchCommand, string> {
  const sizeNames = new Set([...benches.values()].flatMap(({ sizes }) => Object.keys(sizes)));
  const sizeFlags = Object.fromEntries([...sizeNames].map((name) => [flagOf(name), "value"] as const));
  const choiceNames = new Set([...benches.values()].flatMap(({ choices = {} }) => Object.keys(choices)));
  const choiceFlags = Object.fromEntries([...choiceNames].map((name) => [flagOf(name), "values"] as const));
  const parsed = parseFlags(args, { ...sizeFlags, ...choiceFlags, ...COMMON_FLAGS });
  if (!parsed.ok) return fail(`${parsed.error}. See --help.`);
  const flags = parsed.value;
  const named = [...new Set(flags.positionals)];
  const strangers = named.filter((name) => !benches.has(name));
  if (strangers.length > 0) {
    return fail(`There is no bench ${strangers.join(", ")}. There are: ${[...benches.keys()].join(", ")}.`);
  }
  if (flags.has("help")) return ok({ kind: "help", names: named });
  const names = named.length > 0 ? named : [...benches.keys()];
  const given = parseSizes(flags, sizeNames, names, benches);
  if (!given.ok) return given;
  const chosen = parseChoices(flags, choiceNames, names, benches);
  if (!chosen.ok) return chosen;
  for (const flag of ["save", "against"]) {
    const path = flags.value(flag);
    if (path !== null && names.length > 1 && !isFolder(path)) {
      return fail(
        `--${flag} needs a folder for several benches, and ${path} is none. A new one ends in "/".`,
      );
    }
  }
  return ok({
    kind: "run",
    names,
    isSmoke: flags.has("smoke"),
    isProfiled: flags.has("profile"),
    given: given.value,
    chosen: chosen.value,
    save: flags.value("save"),
    against: flags.value("against"),
  });
}

function parseSizes(
  flags: Flags,
  sizeNames: ReadonlySet<string>,
  names: readonly string[],
  benches: Benches,
): Result<ReadonlyMap<string, number>, string> {
  const given = new Map<string, number>();
  for (const size of sizeNames) {
    const flag = flagOf(size);
    const text = flags.value(flag);
    if (text === null) continue;
    if (!/^\d+(\.\d+)?$/.test(text)) return fail(`--${flag} takes a number, and "${text}" is none.`);
    const owners = [...benches].filter(([, { sizes }]) => size in sizes).map(([name]) => name);
    if (!names.some((name) => owners.includes(name))) return fail(notOf(flag, names, owners));
    given.set(size, Number(text));
  }
  return ok(given);
}

function parseChoices(
  flags: Flags,
  choiceNames: ReadonlySet<string>,
  names: readonly string[],
  benches: Benches,
): Result<ReadonlyMap<string, readonly string[]>, string> {
  const chosen = new Map<string, readonly string[]>();
  for (const choice of choiceNames) {
    const flag = flagOf(choice);
    const wanted = flags.values(flag);
    if (wanted.length === 0) continue;
    const owners = [...benches].filter(([, { choices = {} }]) => choice in choices).map(([name]) => name);
    if (!names.some((name) => owners.includes(name))) return fail(notOf(flag, names, owners));
    const values = owners.flatMap((name) => benches.get(name)!.choices![choice]!.values);
    const stranger = wanted.find((value) => !values.includes(value));
    if (stranger !== undefined) {
      return fail(`--${flag} takes ${values.join(", ")}, and "${stranger}" is none of them.`);
    }
    chosen.set(choice, wanted);
  }
  return ok(chosen);
}

function notOf(flag: string, names: readonly string[], owners: readonly string[]): string {
  return `--${flag} is no flag of ${names.join(", ")}, but of ${owners.join(", ")}.`;
}

/** `dayMinutes` is `--day-minutes`. */
export function flagOf(size: string): string {
  return size.replace(/[A-Z]/g, (letter) => `-${letter.toLowerCase()}`);
}

/** The results file of a bench in a file or folder. */
export function resultsFileIn(path: string, name: string): string {
  return isFolder(path) ? join(path, `${name}.json`) : path;
}

export function isFolder(path: string): boolean {
  return path.endsWith("/") || (existsSync(path) && statSync(path).isDirectory());
}
