import { dayAt, MS_PER_HOUR, RECENT_MS, rangeOf } from "../time/local-day.ts";
import { instantOf } from "../time/local-time.ts";

/* The choices of the share dialog, and the range of time that they mean. */

/** The end of a link: after some hours, or null for an instant that the user types. */
export const UNTIL: readonly { readonly label: string; readonly hours: number | null }[] = [
  { label: "for 1 hour", hours: 1 },
  { label: "for 8 hours", hours: 8 },
  { label: "for 1 day", hours: 24 },
  { label: "for 7 days", hours: 7 * 24 },
  { label: "until …", hours: null },
];

/** The start of the positions that a link shows. */
export const FROM = [
  { label: "the last one on", kind: "last" },
  { label: "the last 30 minutes on", kind: "recent" },
  { label: "now on", kind: "now" },
  { label: "today on", kind: "today" },
  { label: "earlier …", kind: "own" },
] as const;

export const PRECISIONS: readonly { readonly label: string; readonly meters: number | null }[] = [
  { label: "exact", meters: null },
  { label: "within 100 m", meters: 100 },
  { label: "within 500 m", meters: 500 },
  { label: "within 2 km", meters: 2000 },
];

/** The user's choices: indexes into the lists above, and typed times as `2026-11-22T18:30`. */
export interface ShareTerms {
  readonly until: number;
  readonly ownUntil: string;
  readonly from: number;
  readonly ownFrom: string;
  readonly precision: number;
}

/** Unix ms. */
export interface ShareRange {
  readonly notBeforeMs: number;
  readonly expiresMs: number;
}

/** A link to several devices ignores last positions older than this: it would show months of the other devices. */
const LAST_MS_MAX = 24 * MS_PER_HOUR;
const MS_PER_MINUTE = 60_000;

/** The range of a link; a sentence if the terms are wrong. `lastMs` has the times of the devices' last positions. */
export function shareRange(
  terms: ShareTerms,
  zone: string,
  nowMs: number,
  lastMs: readonly number[],
): ShareRange | string {
  const { hours } = UNTIL[terms.until]!;
  const expiresMs = hours === null ? instantOf(terms.ownUntil, zone) : nowMs + hours * MS_PER_HOUR;
  if (expiresMs === null) return "Enter when the link ends.";
  if (expiresMs <= nowMs) return "The link must end in the future.";
  const notBeforeMs = fromOf(terms, zone, nowMs, lastMs);
  if (notBeforeMs === null) return "Enter when the positions begin.";
  if (notBeforeMs >= expiresMs) return "The link must end after its positions begin.";
  return { notBeforeMs, expiresMs };
}

/** Whether a link to this many devices, from their last positions on, shows a last position of this time. */
export function showsLast(lastMs: number, devices: number, nowMs: number): boolean {
  return devices === 1 || lastMs >= nowMs - LAST_MS_MAX;
}

function fromOf(
  { from, ownFrom, precision }: ShareTerms,
  zone: string,
  nowMs: number,
  lastMs: readonly number[],
): number | null {
  switch (FROM[from]!.kind) {
    case "last":
    case "recent": {
      const recent = lastMs.filter((ms) => showsLast(ms, lastMs.length, nowMs));
      const firstMs = Math.min(nowMs, ...recent) - (FROM[from]!.kind === "recent" ? RECENT_MS : 0);
      // A link with a precision shows whole minutes only, so it begins with one.
      return PRECISIONS[precision]!.meters === null ? firstMs : firstMs - (firstMs % MS_PER_MINUTE);
    }
    case "now":
      return nowMs;
    case "today":
      return rangeOf(dayAt(nowMs, zone), zone).startMs;
    case "own":
      return instantOf(ownFrom, zone);
  }
}
