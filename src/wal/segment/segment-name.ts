import { assert } from "../../lib/assert.ts";

/*
 * A segment is named by its number, the first sequence that it may contain. So the newest name alone says from
 * where sequences go on, also when every frame is gone, and no number is given twice.
 */

const NAME_DIGITS = 20;
const NAME = /^(\d{20})\.wal$/;
/** Whatever ends like a segment's name was meant to be one. */
const SUFFIX = ".wal";
/** A million entries a second for a century come to less, and above it there is as much room again to count on. */
const NUMBER_MAX = 2 ** 52;

export function segmentName(number: number): string {
  assert(isNumber(number), "a segment gets a number that is read back");
  return `${String(number).padStart(NAME_DIGITS, "0")}${SUFFIX}`;
}

/** The segment's number, or null where the file is no segment. */
export function parseSegmentName(name: string): number | null {
  const number = Number(NAME.exec(name)?.[1] ?? Number.NaN);
  return isNumber(number) ? number : null;
}

function isNumber(number: number): boolean {
  return number > 0 && number <= NUMBER_MAX;
}

export function isSegmentName(name: string): boolean {
  return parseSegmentName(name) !== null;
}

/** The segments among a directory's names, in log order. */
export function segmentNumbers(names: readonly string[]): { name: string; number: number }[] {
  const segments: { name: string; number: number }[] = [];
  for (const name of names) {
    const number = parseSegmentName(name);
    if (number !== null) segments.push({ name, number });
  }
  return segments.sort((a, b) => a.number - b.number);
}

/** Names that a segment was meant to have and can't: nobody can tell where its entries belong, so none is read. */
export function misnamedSegments(names: readonly string[]): string[] {
  return names.filter((name) => name.endsWith(SUFFIX) && parseSegmentName(name) === null);
}
