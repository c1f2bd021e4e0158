/* How much is looked at: a day, or several that end with it. */

export type SpanName = "day" | "week" | "month" | "year";

export interface Span {
  readonly name: SpanName;
  readonly label: string;
  readonly days: number;
}

export const SPANS: readonly [Span, ...Span[]] = [
  { name: "day", label: "1 day", days: 1 },
  { name: "week", label: "7 days", days: 7 },
  { name: "month", label: "30 days", days: 30 },
  { name: "year", label: "365 days", days: 365 },
];

export const DAY: Span = SPANS[0];

/** A day where there is none of that name. */
export function spanNamed(name: string | null): Span {
  return SPANS.find((span) => span.name === name) ?? DAY;
}
