const WIDTH = 110;

/**
 * Formats JSON like the project's formatter: an object has a line per member, and a list of plain values fills lines,
 * so that hundreds of numbers stay readable and new results keep the layout.
 */
export function formatJson(value: unknown): string {
  return `${format(value, "", 0)}\n`;
}

/** `before` is the number of columns used in the line. */
function format(value: unknown, indent: string, before: number): string {
  if (typeof value !== "object" || value === null) return JSON.stringify(value);
  const inner = `${indent}  `;
  if (!Array.isArray(value)) {
    const members = Object.entries(value).filter(([, member]) => member !== undefined);
    const lines = members.map(([name, member]) => {
      const start = `${inner}${JSON.stringify(name)}: `;
      return start + format(member, inner, start.length);
    });
    return lines.length === 0 ? "{}" : `{\n${lines.join(",\n")}\n${indent}}`;
  }
  const items = value.map((item) => format(item, inner, inner.length));
  const line = `[${items.join(", ")}]`;
  const isPlain = value.every((item) => typeof item !== "object" || item === null);
  if (isPlain && before + line.length + 1 <= WIDTH) return line; // One column for the comma.
  const areNumbers = value.every((item) => typeof item === "number");
  const lines = areNumbers ? filled(items, WIDTH - inner.length) : items;
  return `[\n${lines.map((text) => inner + text).join(",\n")}\n${indent}]`;
}

/** Fills lines with items and commas. */
function filled(items: readonly string[], width: number): string[] {
  const lines: string[] = [];
  for (const item of items) {
    const longer = `${lines.at(-1)}, ${item}`;
    if (lines.length > 0 && longer.length + 1 <= width) lines[lines.length - 1] = longer;
    else lines.push(item);
  }
  return lines;
}
