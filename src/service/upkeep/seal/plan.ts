import type { ExpiredDay, Manifest, SealedDay } from "../../../archive/manifest.ts";
import type { DayInMemory, HotStore } from "../../../hot/hot-store.ts";
import { startOfUtcDayMs } from "../../../model/time/retention.ts";
import { MS_PER_DAY } from "../../../model/time/units.ts";
import { type UtcDay, utcDayOf, utcDayStartMs } from "../../../model/time/utc-day.ts";

/** Whole UTC days before today that stay in memory: the history of the last week never waits for a disk. */
export const WINDOW_DAYS = 7;

/** Files are deleted this long after their day has expired, or after they were moved aside. */
export const ASIDE_KEEP_MS = MS_PER_DAY;

/** The first day of the window: earlier ones are due to be archived. */
export function windowStart(nowMs: number): UtcDay {
  return utcDayOf(startOfUtcDayMs(nowMs) - WINDOW_DAYS * MS_PER_DAY);
}

/**
 * The days in memory that belong into the archive, the oldest first.
 *
 * A cluster's log must be retained from the first message with a day that is not archived. So with `hasFarDays`, days
 * further ahead than the window is long are due too, which another node's wrong clock has accepted: otherwise the log
 * would be retained for years. If memory has nothing of the window, this node's clock is wrong, and they are not due.
 */
export function planSeal(
  inMemory: readonly Pick<DayInMemory, "day" | "records" | "isSealed">[],
  nowMs: number,
  hasFarDays = false,
): UtcDay[] {
  const start = windowStart(nowMs);
  const end = utcDayOf(startOfUtcDayMs(nowMs) + WINDOW_DAYS * MS_PER_DAY);
  const sealsFar = hasFarDays && inMemory.some(({ day }) => day >= start && day <= end);
  return inMemory
    .filter(({ records }) => records > 0)
    .filter(({ day, isSealed }) => isSealed || day < start || (sealsFar && day > end))
    .map(({ day }) => day);
}

/** Whether memory has rows of archived days, which the next seal lays over the archive's records. */
export function hasLateRows({ daysInMemory }: Pick<HotStore, "daysInMemory">): boolean {
  return daysInMemory().some(({ isSealed, records }) => isSealed && records > 0);
}

/** When seals at this interval have archived this day and all before it, on every node that is live. */
export function archivedByMs(lastDay: UtcDay | null, nowMs: number, intervalMs: number): number {
  // A day further ahead is archived at once.
  const day = Math.min(lastDay ?? 0, utcDayOf(nowMs) + WINDOW_DAYS);
  return Math.max(nowMs, utcDayStartMs((day + WINDOW_DAYS + 1) as UtcDay)) + intervalMs;
}

/** The time and the retention of a seal, fixed at its beginning. */
export interface SealTime {
  readonly nowMs: number;
  /** The first day that answers still show. */
  readonly firstDay: UtcDay;
  /** The retention as it is set. */
  readonly retention: string;
}

/**
 * What happens to days past the retention. Files are deleted only a day after they have expired. A deleted day remains
 * on the list without parts as long as the log may have old reports of it: it must stay covered, or the next start
 * would archive those reports again, and their segments could never be deleted.
 */
export interface RetentionPlan {
  /** Expired days that come back: the clock was set back, or memory has new records of them. */
  readonly restored: ReadonlyMap<UtcDay, SealedDay>;
  /** Days whose files are to be deleted. */
  readonly deleted: ReadonlyMap<UtcDay, ExpiredDay>;
  /** Days that remain expired, besides those that expire only now. */
  readonly remaining: ReadonlyMap<UtcDay, ExpiredDay>;
}

export function planRetention(
  { expired }: Manifest,
  sealing: ReadonlySet<UtcDay>,
  logMayHold: (day: UtcDay) => boolean,
  { nowMs, firstDay }: SealTime,
): RetentionPlan {
  const restored = new Map<UtcDay, SealedDay>();
  const deleted = new Map<UtcDay, ExpiredDay>();
  const remaining = new Map<UtcDay, ExpiredDay>();
  for (const [day, entry] of expired) {
    const { sinceMs, ...sealed } = entry;
    if (day >= firstDay || sealing.has(day)) restored.set(day, sealed);
    else if (nowMs - sinceMs < ASIDE_KEEP_MS) remaining.set(day, entry);
    else if (entry.parts.length > 0) {
      deleted.set(day, entry);
      remaining.set(day, { ...entry, parts: [], sinceMs: nowMs });
    } else if (logMayHold(day)) remaining.set(day, entry);
  }
  return { restored, deleted, remaining };
}

/** Separates archived days at the end of the retention. */
export function splitExpired(days: ReadonlyMap<UtcDay, SealedDay>, { nowMs, firstDay }: SealTime) {
  const retained = new Map([...days].filter(([day]) => day >= firstDay));
  const expiring = [...days].filter(([day]) => day < firstDay);
  return {
    retained,
    expired: new Map(expiring.map(([day, sealed]) => [day, { ...sealed, sinceMs: nowMs }])),
  };
}
