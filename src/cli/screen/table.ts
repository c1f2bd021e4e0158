/** Rows in columns as wide as their widest cell. Columns whose header begins with `>` are right-aligned. */
export function formatTable(header: readonly string[], rows: readonly (readonly string[])[]): string {
  const isRight = header.map((name) => name.startsWith(">"));
  const titles = header.map((name) => name.replace(/^>/, ""));
  const widths = titles.map((title, c) => Math.max(title.length, ...rows.map((row) => row[c]!.length)));
  const line = (row: readonly string[]) =>
    row
      .map((cell, c) => (isRight[c] ? cell.padStart(widths[c]!) : cell.padEnd(widths[c]!)))
      .join("  ")
      .trimEnd();
  return `${[titles, ...rows].map(line).join("\n")}\n`;
}
