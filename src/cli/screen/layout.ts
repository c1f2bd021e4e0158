/** A number as people read it: `1,234`. */
export function formatCount(value: number): string {
  return value.toLocaleString("en");
}

/** The same with its noun: `1 day`, `1,234 days`. */
export function countOf(value: number, noun: string): string {
  return `${formatCount(value)} ${noun}${value === 1 ? "" : "s"}`;
}
