/*
 * Spreadsheets run a cell that begins with =, +, - or @ as a formula, in East Asian locales also one that begins with
 * the full-width form of these. An apostrophe in front makes it a text. The delimiter depends on the reader's locale:
 * if it is a semicolon, `x;=1+1` is two cells, and RFC 4180 quotes don't protect it, since they are not where that
 * reader expects them. So a text is guarded at its start and after each possible delimiter. An empty text is guarded
 * too, to tell it from a missing text.
 * Source: OWASP, "CSV Injection".
 *
 *   text    =1+1    @home    '=1    (empty)    '    -5    it's    x;=1+1
 *   cell   '=1+1   '@home   ''=1    '          ''   -5    it's    x;'=1+1
 *
 * An apostrophe is added or removed only where a formula follows, possibly after more quotes or white space. So every
 * text is restored exactly, and cells of other programs change only if they were guarded in the same way.
 */

/**
 * The start of a text, or a position after a delimiter, where a formula follows after skipped characters. Texts of
 * records have at most 128 characters; the bound limits the search in other programs' cells.
 */
const NEEDS_GUARD = /(?<=^|[,;|\t\r\n])(?=['"\s]{0,128}[=+\-@\uFF0B\uFF0D\uFF1D\uFF20])/g;
const IS_GUARDED = /(?<=^|[,;|\t\r\n])'(?=['"\s]{0,128}[=+\-@\uFF0B\uFF0D\uFF1D\uFF20])/g;

/** An empty text, guarded or not. */
const IS_EMPTY = /^'*$/;

const IS_NUMBER = /^[+-]\d+(?:\.\d+)?$/;

/** Returns the cell for a text, not yet quoted. */
export function guardedCell(text: string): string {
  if (IS_EMPTY.test(text)) return `'${text}`;
  return IS_NUMBER.test(text) ? text : text.replace(NEEDS_GUARD, "'");
}

export function unguardedText(cell: string): string {
  return IS_EMPTY.test(cell) ? cell.slice(1) : cell.replace(IS_GUARDED, "");
}
