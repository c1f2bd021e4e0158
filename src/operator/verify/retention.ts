import type { Manifest, SealedDay } from "../../archive/manifest.ts";
import { type UtcDay, utcDayName } from "../../model/time/utc-day.ts";
import type { ReportsByDay } from "../../wal/batch-parts.ts";

/** What the disk still has of a day that no answer shows any more: the next seals delete it. */
export interface PastDay {
  readonly day: string;
  readonly archivedRecords: number;
  readonly loggedReports: number;
}

/** The days before the retention of which log or archive hold anything, the oldest first. */
export function findPastDays({ days, expired }: Manifest, logged: ReportsByDay, firstDay: UtcDay): PastDay[] {
  const archived = new Map<UtcDay, number>();
  for (const [day, { parts }] of [...expired, ...days] as [UtcDay, SealedDay][])
    archived.set(
      day,
      parts.reduce((sum, { rows }) => sum + rows, 0),
    );
  return [...new Set([...archived.keys(), ...logged.keys()])]
    .filter((day) => day < firstDay)
    .toSorted((a, b) => a - b)
    .map((day) => ({
      day: utcDayName(day),
      archivedRecords: archived.get(day) ?? 0,
      loggedReports: logged.get(day) ?? 0,
    }))
    .filter(({ archivedRecords, loggedReports }) => archivedRecords + loggedReports > 0);
}
