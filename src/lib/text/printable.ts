/**
 * Text that is safe to print in a terminal: without characters that move the cursor, change colors or titles, or change
 * the direction of text. File names and messages of clients may contain such. Line ends stay.
 */
export function printable(text: string): string {
  return text.replace(DISTURBING, "\ufffd");
}

/** Like `printable()`, on one line, so that quoted text can't imitate a line of our own output. */
export function printableLine(text: string): string {
  return printable(text).replaceAll("\n", "\ufffd");
}

const DISTURBING = /[\x00-\x09\x0b-\x1f\x7f-\x9f\u2028-\u202e\u2066-\u2069]/g;

/** A word quoted for a shell, for commands that people paste. */
export function shellQuote(word: string): string {
  return /^[\w%+,./:=@-]+$/.test(word) ? word : `'${word.replaceAll("'", "'\\''")}'`;
}
