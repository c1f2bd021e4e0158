/**
 * Text as a terminal may show it: without what would move the cursor, change colors or titles, or turn the direction
 * of what follows. Names of files and other people's messages may hold all of that. Line ends stay.
 */
export function printable(text: string): string {
  return text.replace(DISTURBING, "\ufffd");
}

/** The same on one line, so that what is quoted can't pass for a line of ours. */
export function printableLine(text: string): string {
  return printable(text).replaceAll("\n", "\ufffd");
}

const DISTURBING = /[\x00-\x09\x0b-\x1f\x7f-\x9f\u2028-\u202e\u2066-\u2069]/g;

/** A word as a shell takes it to the letter, for commands that people paste. */
export function shellQuote(word: string): string {
  return /^[\w%+,./:=@-]+$/.test(word) ? word : `'${word.replaceAll("'", "'\\''")}'`;
}
