import { expect } from "bun:test";
import { cpSync, mkdirSync, readdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { SAMPLES } from "../../../support/formats/read-file.ts";
import { zipOf } from "../../../support/formats/zip.ts";
import { type Finished, runCli } from "./run-cli.ts";

/* Imports of the samples, and what they say. */

export interface Group {
  readonly file: string;
  readonly format: string;
  readonly read: number;
  readonly new: number;
  readonly already_there: number;
  readonly same_time: number;
  readonly skipped: number;
  readonly skips: readonly { readonly reason: string; readonly count: number }[];
}

export const OPTIONS = ["--app", "shop", "--timezone", "Europe/Berlin", "--json"];

/** What `import --json` says of each group of files. */
export function groupsOf({ out }: Pick<Finished, "out">): readonly Group[] {
  return JSON.parse(out).groups;
}

/** What does not depend on what the directory has already. */
export function countsOf({ file, format, read, skips }: Group) {
  return [file, format, read, skips];
}

/** Begins a directory that keeps records of any age, as an import of ten years needs it. */
export async function keepForever(dataDir: string): Promise<void> {
  const set = await runCli("settings", "set", "retention", "forever", "--data-dir", dataDir);
  expect(set).toMatchObject({ code: 0 });
}

/** The SHA-256 of the records of each day. */
export async function daysOf(dataDir: string): Promise<readonly unknown[]> {
  const { out, code } = await runCli("verify", "--json", "--data-dir", dataDir);
  expect(code).toBe(0);
  return JSON.parse(out).appDays;
}

/** Every sample, as folders and one archive have them; those that need columns named are left out. */
export function layOutSamples(directory: string): string {
  const folder = join(directory, "files");
  mkdirSync(folder);
  for (const name of readdirSync(SAMPLES)) {
    if (!["csv", "README.md"].includes(name))
      cpSync(join(SAMPLES, name), join(folder, name), { recursive: true });
  }
  const member = (path: string) => ({ path, content: readFileSync(join(SAMPLES, path)) });
  const zip = zipOf([member("csv/e7.csv"), member("csv/wherehouse.csv"), member("gpx/osmand-1.1.gpx")]);
  writeFileSync(join(folder, "archive.zip"), zip);
  return folder;
}

/** New, already there and skipped, of all files of a summary. */
export function sumsOf(out: string): number[] {
  return ["new", "already there", "skipped"].map((what) =>
    [...out.matchAll(new RegExp(`([\\d,]+) ${what}`, "g"))]
      .map(([, count]) => Number(count!.replaceAll(",", "")))
      .reduce((sum, count) => sum + count, 0),
  );
}

/** How many records the directory has. */
export async function recordCount(dataDir: string): Promise<number> {
  const { out, code } = await runCli("verify", "--json", "--data-dir", dataDir);
  expect(code).toBe(0);
  return JSON.parse(out).totals.records;
}
