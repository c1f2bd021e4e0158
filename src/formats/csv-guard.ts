/*
 * Spreadsheets run a cell that begins with =, +, - or @ as a formula, so such a text gets an apostrophe before it in a
 * CSV file, which they take for "what follows is text". So does an empty text, which a cell could not tell from none.
 *
 *   text    =1+1    @home    '=1    (empty)    '    -5    it's    'tis
 *   cell   '=1+1   '@home   ''=1    '          ''   -5    it's    'tis
 *
 * An apostrophe is put before, and taken away from, nothing but apostrophes followed by one of these or by the end. So
 * every text comes back as it was, and of the cells of others only those that were guarded the same way are changed.
 */

const NEEDS_GUARD = /^'*(?:[=+\-@\t\r]|$)/;
const IS_GUARDED = /^'+(?:[=+\-@\t\r]|$)/;

/** Numbers are what they look like. */
const IS_NUMBER = /^[+-]\d+(?:\.\d+)?$/;

const APOSTROPHE = 0x27;

/** The cell of a text, before it is quoted. */
export function guardedCell(text: string): string {
  return NEEDS_GUARD.test(text) && !IS_NUMBER.test(text) ? `'${text}` : text;
}

/** The text of a cell. */
export function unguardedText(cell: string): string {
  return cell.charCodeAt(0) === APOSTROPHE && IS_GUARDED.test(cell) ? cell.slice(1) : cell;
}
