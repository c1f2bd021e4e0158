import { CR, LF, QUOTE } from "../text/ascii.ts";

/** What separates the fields of a CSV file, as a byte. */
export type CsvDelimiter = number;

export const COMMA: CsvDelimiter = 0x2c;
export const SEMICOLON: CsvDelimiter = 0x3b;
export const TAB: CsvDelimiter = 0x09;

/**
 * The delimiter that the first line which isn't empty has most of, outside quotes; a comma where it has none. Null
 * where the line's end is not among the bytes, although more follow.
 */
export function findDelimiter(bytes: Uint8Array, from: number, ended: boolean): CsvDelimiter | null {
  let at = from;
  while (bytes[at] === CR || bytes[at] === LF) at++;
  let commas = 0;
  let semicolons = 0;
  let tabs = 0;
  let isQuoted = false;
  for (; at < bytes.length; at++) {
    const byte = bytes[at];
    if (byte === QUOTE) isQuoted = !isQuoted;
    else if (isQuoted) continue;
    else if (byte === LF) break;
    else if (byte === COMMA) commas++;
    else if (byte === SEMICOLON) semicolons++;
    else if (byte === TAB) tabs++;
  }
  if (at === bytes.length && !ended) return null;
  if (commas >= semicolons && commas >= tabs) return COMMA;
  return semicolons >= tabs ? SEMICOLON : TAB;
}
