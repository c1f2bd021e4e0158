import { dayAt, MS_PER_HOUR, rangeOf, wallMs } from "../time/local-day.ts";

/*
 * What a share link shows and until when, as it is chosen in the dialog.
 */

/** Until when: in so many hours, or until an instant of one's own where there are none. */
export const UNTIL: readonly { readonly label: string; readonly hours: number | null }[] = [
  { label: "for 1 hour", hours: 1 },
  { label: "for 8 hours", hours: 8 },
  { label: "for 1 day", hours: 24 },
  { label: "for 7 days", hours: 7 * 24 },
  { label: "until …", hours: null },
];

/** From when on positions are shown. */
export const FROM = [
  { label: "the last one on", kind: "last" },
  { label: "now on", kind: "now" },
  { label: "today on", kind: "today" },
  { label: "earlier …", kind: "own" },
] as const;

export const PRECISIONS: readonly { readonly label: string; readonly meters: number | null }[] = [
  { label: "exactly", meters: null },
  { label: "within 100 m", meters: 100 },
  { label: "within 500 m", meters: 500 },
  { label: "within 2 km", meters: 2000 },
];

/** What is chosen: places in the lists above, and what was typed as `2026-11-22T18:30`. */
export interface ShareTerms {
  readonly until: number;
  readonly ownUntil: string;
  readonly from: number;
  readonly ownFrom: string;
  readonly precision: number;
}

/** The same in instants, Unix ms. */
export interface ShareRange {
  readonly notBeforeMs: number;
  readonly expiresMs: number;
}

/** A link to several devices ignores last positions older than this: it would show months of the other devices. */
const LAST_MS_MAX = 24 * MS_PER_HOUR;
const MS_PER_MINUTE = 60_000;

/**
 * What a link of these terms shows; a sentence if there can be none. `lastMs` are the times of the chosen devices' last
 * positions.
 */
export function shareRange(
  terms: ShareTerms,
  zone: string,
  nowMs: number,
  lastMs: readonly number[],
): ShareRange | string {
  const { hours } = UNTIL[terms.until]!;
  const expiresMs = hours === null ? instantOf(terms.ownUntil, zone) : nowMs + hours * MS_PER_HOUR;
  if (expiresMs === null) return "Say until when the link works.";
  if (expiresMs <= nowMs) return "The link would end before it begins.";
  const notBeforeMs = fromOf(terms, zone, nowMs, lastMs);
  if (notBeforeMs === null) return "Say from when on positions are shown.";
  if (notBeforeMs >= expiresMs) return "The link would end before there is anything to show.";
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
    case "last": {
      const shown = lastMs.filter((ms) => showsLast(ms, lastMs.length, nowMs));
      const firstMs = Math.min(nowMs, ...shown);
      // A link with cells shows whole minutes only, so it begins with one.
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

/**
 * When the clocks of a zone show what `<input type="datetime-local">` says. Of an hour that comes twice it is the
 * first; one that clocks leave out is as much later as they go forward. Null where nothing was typed.
 */
export function instantOf(local: string, zone: string): number | null {
  const wall = Date.parse(`${local}Z`);
  if (Number.isNaN(wall)) return null;
  // The offsets a day before and after are the two that it can have.
  const candidates = [-24, 24].map((hours) => {
    const near = wall + hours * MS_PER_HOUR;
    return wall - (wallMs(near, zone) - near);
  });
  return candidates.find((ms) => wallMs(ms, zone) === wall) ?? Math.max(...candidates);
}

/** An instant as such an input shows it. */
export function localTextOf(ms: number, zone: string): string {
  return new Date(wallMs(ms, zone)).toISOString().slice(0, "2026-11-22T18:30".length);
}
