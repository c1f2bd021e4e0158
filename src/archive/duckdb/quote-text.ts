/** A text of ours, such as a path, as SQL: settings, file names and metadata take no bound values. */
export function quoteText(text: string): string {
  return `'${text.replaceAll("'", "''")}'`;
}
