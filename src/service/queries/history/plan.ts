import { findSealed, type Manifest } from "../../../archive/manifest.ts";
import type { HotStore } from "../../../hot/hot-store.ts";
import type { TimeRange } from "../../../model/time/range.ts";
import { nextUtcDay, type UtcDay, utcDayOf, utcDayStartMs } from "../../../model/time/utc-day.ts";

/** A range of time that one store answers, or both together. */
export interface HistoryStretch {
  /**
   * `memory`: days that are not archived. `archive`: archived days without anything in memory. `both`: archived days
   * with late rows in memory, which are laid over the archive's records.
   */
  readonly kind: "memory" | "archive" | "both";
  readonly range: TimeRange;
  readonly days: readonly UtcDay[];
}

/** The facts about days that the plan needs. */
export interface DayFacts {
  readonly isSealed: (day: UtcDay) => boolean;
  /** Whether memory has late rows of an archived day. */
  readonly holdsLate: (day: UtcDay) => boolean;
}

/**
 * Cuts a range at the borders of UTC days into stretches, oldest first. A stretch belongs to one store, so the records
 * of a range are those of its stretches one after the other. `days` are those with records anywhere, in order; the time
 * between them is empty and needs no store.
 */
export function planHistory(
  range: TimeRange,
  days: readonly UtcDay[],
  { isSealed, holdsLate }: DayFacts,
): HistoryStretch[] {
  const stretches: { kind: HistoryStretch["kind"]; range: TimeRange; days: UtcDay[] }[] = [];
  for (const day of days) {
    const startMs = Math.max(range.startMs, utcDayStartMs(day));
    const endMs = Math.min(range.endMs, utcDayStartMs(nextUtcDay(day)));
    if (startMs >= endMs) continue;
    const kind = !isSealed(day) ? "memory" : holdsLate(day) ? "both" : "archive";
    const last = stretches.at(-1);
    if (last?.kind === kind) {
      last.range = { startMs: last.range.startMs, endMs };
      last.days.push(day);
    } else {
      stretches.push({ kind, range: { startMs, endMs }, days: [day] });
    }
  }
  return stretches;
}

/** The stretches of a range, as the stores are now. */
export function planStretches(hot: HotStore, manifest: Manifest, range: TimeRange): HistoryStretch[] {
  const inMemory = hot.daysInMemory().map(({ day }) => day);
  const sealed = [...manifest.days.keys(), ...manifest.expired.keys()];
  return planHistory(range, daysWithin(range, [...sealed, ...inMemory]), {
    isSealed: (day) => findSealed(manifest, day) !== undefined,
    holdsLate: (day) => hot.holdsLate(day),
  });
}

/** The archived days of stretches, in order. */
export function sealedDaysOf(stretches: readonly HistoryStretch[]): UtcDay[] {
  return stretches.filter(({ kind }) => kind !== "memory").flatMap(({ days }) => days);
}

/** Whether the range has an archived day. Most queries are about later days. */
export function touchesSealed(manifest: Manifest, range: TimeRange): boolean {
  const [first, last] = [utcDayOf(range.startMs), utcDayOf(range.endMs - 1)];
  for (let day = last; day >= first; day = (day - 1) as UtcDay)
    if (findSealed(manifest, day) !== undefined) return true;
  return false;
}

/** The days of a range, in order: those of `days` that it touches. */
export function daysWithin({ startMs, endMs }: TimeRange, days: Iterable<UtcDay>): UtcDay[] {
  const [first, last] = [utcDayOf(startMs), utcDayOf(endMs - 1)];
  // Most of ten years' days are excluded here.
  const within = [...days].filter((day) => day >= first && day <= last);
  return [...new Set(within)].sort((a, b) => a - b);
}
