/*
 * Spreadsheets run a cell that begins with =, +, - or @ as a formula, in East Asian locales also one that begins with
 * the full-width form of these. An apostrophe in front makes it a text. Which character separates cells depends on the
 * reader's locale: where it is a semicolon, `x;=1+1` is two cells, and the quotes of RFC 4180 don't hold them together
 * because they don't stand where that reader expects them. So a text is guarded at its start and behind each character
 * that may separate cells. An empty text is guarded too: its cell could not be told from the cell of no text.
 * Source: OWASP, "CSV Injection".
 *
 *   text    =1+1    @home    '=1    (empty)    '    -5    it's    x;=1+1
 *   cell   '=1+1   '@home   ''=1    '          ''   -5    it's    x;'=1+1
 *
 * An apostrophe is added to, and removed from, only those places where a formula follows, be it behind more quotes or
 * white space. So every text comes back as it was, and of other programs' cells only those change that were guarded in
 * the same way.
 */

/**
 * The start of a text, or a place behind a character that may separate cells, from which a formula follows behind what
 * a reader may skip. Texts of records have 128 characters at most; the bound keeps the search short in the cells of
 * other files.
 */
const NEEDS_GUARD = /(?<=^|[,;|\t\r\n])(?=['"\s]{0,128}[=+\-@\uFF0B\uFF0D\uFF1D\uFF20])/g;
const IS_GUARDED = /(?<=^|[,;|\t\r\n])'(?=['"\s]{0,128}[=+\-@\uFF0B\uFF0D\uFF1D\uFF20])/g;

/** An empty text, and what that becomes when it is guarded. */
const IS_EMPTY = /^'*$/;

/** Numbers are what they look like. */
const IS_NUMBER = /^[+-]\d+(?:\.\d+)?$/;

/** The cell of a text, before it is quoted. */
export function guardedCell(text: string): string {
  if (IS_EMPTY.test(text)) return `'${text}`;
  return IS_NUMBER.test(text) ? text : text.replace(NEEDS_GUARD, "'");
}

/** The text of a cell. */
export function unguardedText(cell: string): string {
  return IS_EMPTY.test(cell) ? cell.slice(1) : cell.replace(IS_GUARDED, "");
}
