import { readNumber } from "../../../clients/reading/values.ts";

/** A coordinate with the letter of its hemisphere before or behind it. */
const LETTERED = /^([NSEW])? ?(\d[\d.,]*) ?°? ?([NSEW])?$/i;
const CHARACTERS_MAX = 64;

/** The number that a cell says, as people write it; NaN where it says none. */
export function parseCellNumber(text: string, commaIsDecimal: boolean): number {
  const cell = text.trim();
  if (cell === "" || cell.length > CHARACTERS_MAX) return Number.NaN;
  const number = readNumber(withDot(cell, commaIsDecimal));
  if (number !== null) return number;
  const [, before, digits, behind] = LETTERED.exec(cell) ?? [];
  const letter = before ?? behind;
  if (digits === undefined || letter === undefined || (before ?? letter) !== (behind ?? letter))
    return Number.NaN;
  const degrees = readNumber(withDot(digits, commaIsDecimal)) ?? Number.NaN;
  return /[SW]/i.test(letter) ? -degrees : degrees;
}

/** A number with both dot and comma stays as it is, which is none. */
function withDot(text: string, commaIsDecimal: boolean): string {
  return commaIsDecimal && !text.includes(".") ? text.replace(",", ".") : text;
}
