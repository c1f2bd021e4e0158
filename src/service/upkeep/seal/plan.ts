import type { ExpiredDay, Manifest, SealedDay } from "../../../archive/manifest.ts";
import type { DayInMemory } from "../../../hot/hot-store.ts";
import { startOfUtcDayMs } from "../../../model/time/retention.ts";
import { MS_PER_DAY } from "../../../model/time/units.ts";
import { type UtcDay, utcDayOf } from "../../../model/time/utc-day.ts";

/** Whole UTC days before today that stay in memory: history of the last week never waits for a disk. */
export const WINDOW_DAYS = 7;

/** Files are deleted this long after their day was found to be expired, or they were moved aside. */
export const ASIDE_KEEP_MS = MS_PER_DAY;

/** The first day of the window: earlier ones are due to be sealed. */
export function windowStart(nowMs: number): UtcDay {
  return utcDayOf(startOfUtcDayMs(nowMs) - WINDOW_DAYS * MS_PER_DAY);
}

/**
 * The days of which memory holds something that belongs into the archive, the oldest first.
 *
 * A cluster's log is kept from the first message on that has anything of a day that is not archived. So where it
 * `hasFarDays` days that are further ahead than the window is long are due too, which another node's clock let in: they
 * would not be for years. Where memory has nothing of the window it is this clock that is wrong, and they are not.
 */
export function planSeal(
  inMemory: readonly Pick<DayInMemory, "day" | "isSealed">[],
  nowMs: number,
  hasFarDays = false,
): UtcDay[] {
  const start = windowStart(nowMs);
  const end = utcDayOf(startOfUtcDayMs(nowMs) + WINDOW_DAYS * MS_PER_DAY);
  const sealsFar = hasFarDays && inMemory.some(({ day }) => day >= start && day <= end);
  return inMemory
    .filter(({ day, isSealed }) => isSealed || day < start || (sealsFar && day > end))
    .map(({ day }) => day);
}

/** What a seal goes by from its beginning to its end, however the clock or the retention change meanwhile. */
export interface SealTime {
  readonly nowMs: number;
  /** The first day that answers still show. */
  readonly firstDay: UtcDay;
  /** As it is set. */
  readonly retention: string;
}

/**
 * What becomes of days past the end of the retention. Nothing is deleted that was not found to be expired a day before.
 * A deleted day stays on the list without parts for as long as the log may hold reports of it, however old: they stay
 * covered, or the next start would archive them once more, and segments that hold them would never go.
 */
export interface RetentionPlan {
  /** Expired days that come back: the clock was set back, or memory holds something of them. */
  readonly restored: ReadonlyMap<UtcDay, SealedDay>;
  /** Days whose files are to be deleted. */
  readonly deleted: ReadonlyMap<UtcDay, ExpiredDay>;
  /** What is expired from now on, besides days that leave the retention only now. */
  readonly kept: ReadonlyMap<UtcDay, ExpiredDay>;
}

export function planRetention(
  { expired }: Manifest,
  sealing: ReadonlySet<UtcDay>,
  logMayHold: (day: UtcDay) => boolean,
  { nowMs, firstDay }: SealTime,
): RetentionPlan {
  const restored = new Map<UtcDay, SealedDay>();
  const deleted = new Map<UtcDay, ExpiredDay>();
  const kept = new Map<UtcDay, ExpiredDay>();
  for (const [day, entry] of expired) {
    const { sinceMs, ...sealed } = entry;
    if (day >= firstDay || sealing.has(day)) restored.set(day, sealed);
    else if (nowMs - sinceMs < ASIDE_KEEP_MS) kept.set(day, entry);
    else if (entry.parts.length > 0) {
      deleted.set(day, entry);
      kept.set(day, { ...entry, parts: [], sinceMs: nowMs });
    } else if (logMayHold(day)) kept.set(day, entry);
  }
  return { restored, deleted, kept };
}

/** Parts sealed days at the end of the retention. */
export function splitExpired(days: ReadonlyMap<UtcDay, SealedDay>, { nowMs, firstDay }: SealTime) {
  const retained = new Map([...days].filter(([day]) => day >= firstDay));
  const expiring = [...days].filter(([day]) => day < firstDay);
  return {
    retained,
    expired: new Map(expiring.map(([day, sealed]) => [day, { ...sealed, sinceMs: nowMs }])),
  };
}
