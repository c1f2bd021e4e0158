import type { Manifest } from "../../../src/archive/manifest.ts";
import { utcDayOf } from "../../../src/time/utc-day.ts";
import type { LifeDisk } from "./disk.ts";
import { findFrames } from "./log-frames.ts";
import type { Contribution } from "./model.ts";
import { ARCHIVE_DIRECTORY, type LifeService } from "./service.ts";

/*
 * What must hold of the files, whatever happened before. Each finds what breaks it, in a sentence, or null.
 */

/** Every file that the manifest names is there; `isGone` tells of those that damage took. */
export function findMissingPart(
  { directory }: LifeService,
  disk: LifeDisk,
  isGone: (file: string) => boolean,
): string | null {
  const contents = disk.contents();
  for (const file of namedFiles(directory.archive.manifest)) {
    if (contents.has(`${ARCHIVE_DIRECTORY}/${file}`) || isGone(file)) continue;
    return `the manifest names ${file}, which is not there`;
  }
  return null;
}

/** After a whole seal the folders of days hold what the manifest names and nothing else. */
export function findStrayPart({ directory }: LifeService, disk: LifeDisk): string | null {
  const named = namedFiles(directory.archive.manifest);
  for (const path of disk.contents().keys()) {
    const file = path.slice(ARCHIVE_DIRECTORY.length + 1);
    if (!path.startsWith(ARCHIVE_DIRECTORY) || !/^(day=|latest\/)/.test(file)) continue;
    if (!named.has(file)) return `${file} lies among the archive's files and is none of them`;
  }
  return null;
}

function namedFiles({ days, expired, latest }: Manifest): ReadonlySet<string> {
  const ofDays = [...days.values(), ...expired.values()].flatMap(({ parts }) => parts);
  return new Set([...ofDays, ...(latest ?? [])].map(({ file }) => file));
}

/** What the archive does not cover is in the log: no segment went before its time. */
export function findTrimmedReport(
  { directory }: LifeService,
  disk: LifeDisk,
  contributions: Iterable<Contribution>,
): string | null {
  const { days, expired } = directory.archive.manifest;
  const logged = new Set(findFrames(disk.contents()).map(({ sequence }) => sequence));
  for (const { batch, report, isOptional } of contributions) {
    if (isOptional || batch.sequence === null || logged.has(batch.sequence)) continue;
    const day = utcDayOf(report.timestamp);
    const covered = (days.get(day) ?? expired.get(day))?.sequence ?? 0;
    if (covered >= batch.sequence) continue;
    return `entry ${batch.sequence} of the log is gone, and its day is covered up to ${covered} only`;
  }
  return null;
}
