import type { Archive } from "../../../archive/archive.ts";
import { findSealed, type Part } from "../../../archive/manifest.ts";
import type { AppId } from "../../../model/ids.ts";
import { type UtcDay, utcDayName } from "../../../model/time/utc-day.ts";

/*
 * Parts that answers need, and what they have to do without.
 */

/** What answers have to do without. */
export interface Gaps {
  /** Files that can't be read. */
  readonly files: ReadonlySet<string>;
  /** Names of days that lack a part nobody has acknowledged as lost. */
  readonly unacknowledged: readonly string[];
  /** Whether records are missing that somebody has acknowledged as lost. */
  readonly isIncomplete: boolean;
}

export interface GapsDependencies {
  /** Files of parts whose loss an operator has acknowledged. */
  readonly acknowledgedParts: () => Promise<ReadonlySet<string>>;
}

export async function findGaps(
  { acknowledgedParts }: GapsDependencies,
  archive: Archive,
  appId: AppId,
  days: readonly UtcDay[],
): Promise<Gaps> {
  const files = new Set<string>();
  const damagedDays = new Map<string, string>();
  let isIncomplete = false;
  for (const day of days) {
    const sealed = findSealed(archive.manifest, day)!;
    if (sealed.lost.some(({ apps }) => apps.has(appId))) isIncomplete = true;
    for (const { file, apps } of sealed.parts) {
      if (!archive.damaged.has(file) || !apps.has(appId)) continue;
      files.add(file);
      damagedDays.set(file, utcDayName(day));
    }
  }
  if (files.size === 0) return { files, unacknowledged: [], isIncomplete };
  const acknowledged = await acknowledgedParts();
  const unacknowledged = [...damagedDays].filter(([file]) => !acknowledged.has(file)).map(([, day]) => day);
  return { files, unacknowledged: [...new Set(unacknowledged)], isIncomplete: true };
}

export function remaining(parts: readonly Part[], { files }: Gaps): Part[] {
  return parts.filter(({ file }) => !files.has(file));
}
