/** A trusted text, such as a path, as SQL, for settings, file names and metadata, which take no bound values. */
export function quoteText(text: string): string {
  return `'${text.replaceAll("'", "''")}'`;
}
