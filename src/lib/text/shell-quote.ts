/** A word as a shell takes it to the letter, for commands that people paste. */
export function shellQuote(word: string): string {
  return /^[\w%+,./:=@-]+$/.test(word) ? word : `'${word.replaceAll("'", "'\\''")}'`;
}
