import { createHash } from "node:crypto";
import { existsSync, mkdirSync, readdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import type { Target } from "./target.ts";

/*
 * `corpus/` has a file for each target: inputs that reach all of its code, base64, one a line. `found/` has inputs that
 * once failed, a file each, named by target and hash. Both are run by every test and every run of the fuzzer.
 */
const CORPUS = join(import.meta.dirname!, "../corpus");
const FOUND = join(import.meta.dirname!, "../found");

export function readCorpus({ name }: Target): Uint8Array[] {
  const path = corpusPath(name);
  if (!existsSync(path)) return [];
  const lines = readFileSync(path, "utf8").split("\n").slice(0, -1);
  return lines.map((line) => Uint8Array.from(Buffer.from(line, "base64")));
}

export function writeCorpus({ name }: Target, inputs: readonly Uint8Array[]): void {
  mkdirSync(CORPUS, { recursive: true });
  const lines = inputs.map((input) => `${Buffer.from(input).toString("base64")}\n`);
  writeFileSync(corpusPath(name), lines.join(""));
}

export function readFound({ name }: Target): Uint8Array[] {
  if (!existsSync(FOUND)) return [];
  const names = readdirSync(FOUND).filter((file) => file.startsWith(`${name}-`));
  return names.sort().map((file) => Uint8Array.from(readFileSync(join(FOUND, file))));
}

/** Returns the path. */
export function writeFound({ name }: Target, input: Uint8Array): string {
  mkdirSync(FOUND, { recursive: true });
  const hash = createHash("sha256").update(input).digest("hex").slice(0, 8);
  const path = join(FOUND, `${name}-${hash}`);
  writeFileSync(path, input);
  return path;
}

function corpusPath(name: string): string {
  return join(CORPUS, `${name}.txt`);
}
