import { mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { dirname } from "node:path";
import { isObject } from "../../../src/lib/is-object.ts";
import { fail, ok, type Result } from "../../../src/lib/result.ts";
import type { Kept, KeptRatio, KeptVerdict } from "../run/bench-run.ts";
import type { Machine } from "../run/machine.ts";
import { formatJson } from "./json.ts";
import { type Figure, median } from "./report.ts";

/* The results file of a bench, for comparisons with later runs. */

const FORMAT_VERSION = 1;

/** More digits would be noise. */
const DIGITS = 6;

/** The content of a results file. */
export interface Results {
  readonly bench: string;
  readonly question: string;
  /** The time of the run, in ISO 8601. */
  readonly date: string;
  readonly isSmoke: boolean;
  readonly machine: Machine;
  readonly sizes: Readonly<Record<string, number>>;
  readonly figures: readonly Figure[];
  readonly ratios: readonly KeptRatio[];
  readonly verdicts: readonly KeptVerdict[];
  readonly notes: readonly string[];
}

/** Writes a results file and its attachments. `path` ends in `.json`. */
export function saveResults(path: string, results: Results, attachments: Kept["attachments"]): void {
  mkdirSync(dirname(path), { recursive: true });
  writeFileSync(path, encodeResults(results));
  for (const [ending, text] of attachments) writeFileSync(path.replace(/(\.json)?$/, ending), text);
}

export function readResults(path: string): Result<Results, string> {
  let text: string;
  try {
    text = readFileSync(path, "utf8");
  } catch (error) {
    return fail(`${path} cannot be read: ${(error as NodeJS.ErrnoException).code}`);
  }
  const results = parseResults(text);
  return results.ok ? results : fail(`${path} ${results.error}`);
}

/** Medians are for people; programs use the runs. */
export function encodeResults(results: Results): string {
  const { figures, ratios, verdicts, notes, ...head } = results;
  return formatJson({
    formatVersion: FORMAT_VERSION,
    ...head,
    figures: figures.map(({ name, unit, runs }) => ({ name, unit, ...numbersOf(runs) })),
    ratios: ratios.map(({ runs, bound, isReached, ...ratio }) => ({
      ...ratio,
      ...numbersOf(runs),
      bound,
      isReached,
    })),
    verdicts: verdicts.map((verdict) => ({ ...verdict, value: rounded(verdict.value) })),
    notes,
  });
}

function numbersOf(runs: readonly number[]) {
  return { median: rounded(median(runs)), runs: runs.map(rounded) };
}

function rounded(value: number): number {
  return Number(value.toPrecision(DIGITS));
}

/** Parses a results file; the error describes the fault. */
export function parseResults(text: string): Result<Results, string> {
  let json: unknown;
  try {
    json = JSON.parse(text);
  } catch {
    return fail("is not JSON");
  }
  if (!isObject(json) || !("formatVersion" in json)) return fail("is not a results file of a bench");
  if (json.formatVersion !== FORMAT_VERSION) {
    return fail(`has format version ${json.formatVersion}, expected ${FORMAT_VERSION}`);
  }
  return isResults(json) ? ok(json) : fail("is not a whole results file");
}

/** Validates the part that comparisons use; the rest is for people. */
function isResults(json: object): json is Results {
  const { bench, date, machine, sizes, figures, ratios } = json as Partial<Results>;
  return (
    typeof bench === "string" &&
    typeof date === "string" &&
    isObject(machine) &&
    isObject(sizes) &&
    isMeasured(figures) &&
    isMeasured(ratios)
  );
}

function isMeasured(list: unknown): boolean {
  return (
    Array.isArray(list) &&
    list.every(
      (item: Partial<Figure> | null) =>
        typeof item?.name === "string" &&
        typeof item.unit === "string" &&
        Array.isArray(item.runs) &&
        item.runs.length > 0 &&
        item.runs.every(Number.isFinite),
    )
  );
}
