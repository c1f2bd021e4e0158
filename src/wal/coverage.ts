import type { PendingErasure } from "../model/erasure.ts";
import type { UtcDay } from "../model/time/utc-day.ts";
import type { EntryTally } from "./batch-parts.ts";
import { meetsDay } from "./erased-reports.ts";

// Decides what a trim of the log does with each segment.

/** A segment that is no longer written to. */
export interface ClosedSegment extends EntryTally {
  readonly number: number;
  readonly bytes: number;
  /** No entry has a greater sequence. */
  readonly lastSequence: number;
  /** It has nothing that erasures up to this entry of the log erase, as far as this process knows. */
  readonly clearedSequence: number;
  /** False if its contents are not fully known, or are not known to be archived. The segment then stays. */
  readonly isRemovable: boolean;
}

/** Which entries the log may drop. */
export interface Coverage {
  /** Whether all reports of the day in entries up to this sequence are archived, or expired. */
  isCovered(day: UtcDay, lastSequence: number): boolean;
  /** Whether the day's reports, once covered, must be removed, whatever that costs. */
  isExpired(day: UtcDay): boolean;
  /** The archive has every standing entry up to this one that still stands. */
  readonly standingSequence: number;
  /** All erasures up to `standingSequence` that are not finished. Their entries stay; what they erase leaves. */
  readonly erasures: readonly PendingErasure[];
}

/** What a trim does with a segment. */
export type SegmentPlan =
  | { readonly kind: "remove" | "keep" }
  | {
      readonly kind: "rewrite";
      /** The days whose reports leave. */
      readonly days: ReadonlySet<UtcDay>;
      /** The segment's `clearedSequence` afterwards. */
      readonly clearedSequence: number;
    };

/** The newest segment is not removed, and not rewritten for less than what must leave. */
export function planSegment(segment: ClosedSegment, coverage: Coverage, isNewest: boolean): SegmentPlan {
  const days = coveredDays(segment, coverage);
  if (!isNewest && isAllCovered(segment, days, coverage)) return { kind: "remove" };
  const clearedSequence = clearedBy(segment, coverage);
  const isWorth =
    clearedSequence > segment.clearedSequence || isWorthRewriting(segment, days, coverage, isNewest);
  return isWorth ? { kind: "rewrite", days, clearedSequence } : { kind: "keep" };
}

/** The covered days of a segment; none if its contents are not fully known. */
function coveredDays(segment: ClosedSegment, { isCovered }: Coverage): ReadonlySet<UtcDay> {
  const { isRemovable, reports, lastSequence } = segment;
  return new Set(isRemovable ? [...reports.keys()].filter((day) => isCovered(day, lastSequence)) : []);
}

function isAllCovered(
  { isRemovable, reports, standingSequence, number, lastSequence }: ClosedSegment,
  covered: ReadonlySet<UtcDay>,
  coverage: Coverage,
): boolean {
  const hasPending = coverage.erasures.some(({ sequence }) => sequence >= number && sequence <= lastSequence);
  if (!isRemovable || hasPending) return false;
  return covered.size === reports.size && standingSequence <= coverage.standingSequence;
}

/** Whether the segment may have anything that the erasure erases, as far as this process knows. */
export function mayHoldErased(
  { number, clearedSequence, reports, standingSequence, isRemovable }: ClosedSegment,
  erasure: PendingErasure,
): boolean {
  if (erasure.sequence <= Math.max(number, clearedSequence)) return false;
  return !isRemovable || standingSequence > 0 || [...reports.keys()].some((day) => meetsDay(erasure, day));
}

/** Whether the segment may have reports that the erasure erases, and memory knows them. */
export function mayHoldReports(segment: ClosedSegment, erasure: PendingErasure): boolean {
  const { isRemovable, reports } = segment;
  return (
    isRemovable &&
    mayHoldErased(segment, erasure) &&
    [...reports.keys()].some((day) => meetsDay(erasure, day))
  );
}

/**
 * Up to which erasure a rewrite would clear the segment now; its `clearedSequence` if none erases from it. A segment
 * can't be cleared before the archive has its standing entries, since these can't leave.
 */
function clearedBy(segment: ClosedSegment, { erasures, standingSequence }: Coverage): number {
  const { standingSequence: lastStanding, clearedSequence, isRemovable } = segment;
  const isPossible = ({ sequence }: PendingErasure) =>
    !isRemovable || Math.min(lastStanding, sequence - 1) <= standingSequence;
  const clearing = erasures.filter((erasure) => mayHoldErased(segment, erasure) && isPossible(erasure));
  return clearing.reduce((cleared, { sequence }) => Math.max(cleared, sequence), clearedSequence);
}

/**
 * Rewriting a segment costs as much as what stays in it, so at most half may stay, unless something is expired. The
 * newest segment is soon removed as a whole.
 */
function isWorthRewriting(
  { reports, standingSequence, erasureSequence, refusedBytes, bytes, isRemovable }: ClosedSegment,
  covered: ReadonlySet<UtcDay>,
  { isExpired, standingSequence: standingTo, erasures }: Coverage,
  isNewest: boolean,
): boolean {
  if (!isRemovable) return false;
  const isPending = erasures.some(({ sequence }) => sequence === erasureSequence);
  if (erasureSequence > 0 && erasureSequence <= standingTo && !isPending) return true; // It names what was erased.
  const areRefusedCovered = standingSequence <= standingTo;
  if (!isNewest && areRefusedCovered && refusedBytes > 0 && refusedBytes * 2 >= bytes) return true;
  let all = 0;
  let leaving = 0;
  for (const [day, count] of reports) {
    all += count;
    if (covered.has(day)) leaving += count;
  }
  return [...covered].some(isExpired) || (!isNewest && leaving > 0 && leaving * 2 >= all);
}
