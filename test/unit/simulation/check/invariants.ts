import { findSealed, type Manifest } from "../../../../src/archive/manifest.ts";
import { type UtcDay, utcDayOf } from "../../../../src/model/time/utc-day.ts";
import type { RunDisk } from "../disk/disk.ts";
import { manifestOf } from "../disk/flips.ts";
import { findFrames } from "../disk/log-frames.ts";
import type { RunReport } from "../reports/reports.ts";
import { ARCHIVE_DIRECTORY, type RunService } from "../run/service.ts";
import { type Contribution, recordKey } from "./model.ts";

/*
 * What must hold of the files, whatever happened before. Each finds what breaks it, in a sentence, or null.
 */

/** Every file that a manifest names is there, memory's or the disk's; `isGone` tells of those that damage took. */
export function findMissingPart(
  { directory }: RunService,
  disk: RunDisk,
  isGone: (file: string) => boolean,
): string | null {
  const contents = disk.contents();
  const onDisk = manifestOf(contents);
  for (const manifest of [directory.archive.manifest, ...(onDisk === null ? [] : [onDisk])]) {
    for (const file of filesOf(manifest)) {
      if (contents.has(`${ARCHIVE_DIRECTORY}/${file}`) || isGone(file)) continue;
      return `the manifest names ${file}, which is not there`;
    }
  }
  return null;
}

function filesOf({ days, latest, expired }: Manifest): string[] {
  const parts = [...days.values(), ...expired.values()].flatMap((day) => day.parts);
  return [...parts, ...(latest ?? [])].map(({ file }) => file);
}

/** Where the service takes the disk's manifest for its own, it is: files go by what it says. */
export function findSecondOpinion({ directory }: RunService, disk: RunDisk): string | null {
  const onDisk = manifestOf(disk.contents());
  const { isWritten, manifest } = directory.archive;
  if (onDisk === null || !isWritten || Bun.deepEquals(onDisk, manifest)) return null;
  return `the disk has the manifest of seal ${onDisk.seal}, and memory that of seal ${manifest.seal}`;
}

/** After a whole seal the folders of days hold what the manifest names and nothing else. */
export function findStrayPart({ directory }: RunService, disk: RunDisk): string | null {
  const named = new Set(filesOf(directory.archive.manifest));
  for (const path of disk.contents().keys()) {
    const file = path.slice(ARCHIVE_DIRECTORY.length + 1);
    if (!path.startsWith(ARCHIVE_DIRECTORY) || !/^(day=|latest\/)/.test(file)) continue;
    if (!named.has(file)) return `${file} lies among the archive's files and is none of them`;
  }
  return null;
}

/** What the archive does not cover is in the log: no report went before its time. */
export function findTrimmedReport(
  { directory }: RunService,
  disk: RunDisk,
  contributions: Iterable<Contribution>,
): string | null {
  const { manifest } = directory.archive;
  const logged = new Map(findFrames(disk.contents()).map(({ sequence, reports }) => [sequence, reports]));
  for (const { batch, report, fate } of contributions) {
    if (fate !== "kept" || batch.sequence === null) continue;
    if (logged.get(batch.sequence)?.has(keyOf(report))) continue;
    const covered = findSealed(manifest, utcDayOf(report.timestamp))?.sequence ?? 0;
    if (covered >= batch.sequence) continue;
    return `a report of entry ${batch.sequence} left the log, and its day is covered up to ${covered} only`;
  }
  return null;
}

/**
 * After a whole seal the log holds nothing that is sealed and past the retention, nor what was deleted: but for
 * segments that were written while it ran.
 */
export function findExpiredReport(
  { directory }: RunService,
  disk: RunDisk,
  firstDay: UtcDay,
  contributions: readonly Contribution[],
): string | null {
  const { manifest } = directory.archive;
  const frames = findFrames(disk.contents());
  const lastSequences = new Map(frames.map(({ path, sequence }) => [path, sequence]));
  const deleted = contributions.filter(({ fate }) => fate === "deleted");
  for (const { path, sequence, reports } of frames) {
    if (path === frames.at(-1)!.path) continue;
    for (const [key, day] of reports) {
      const covered = findSealed(manifest, day)?.sequence ?? 0;
      if (day < firstDay && lastSequences.get(path)! <= covered)
        return `entry ${sequence} still has a report past the retention: ${key}`;
    }
    if (deleted.some(({ batch, report }) => batch.sequence === sequence && reports.has(keyOf(report))))
      return `entry ${sequence} still has a report of a day that was deleted`;
  }
  return null;
}

function keyOf({ device_id, timestamp }: RunReport): string {
  return recordKey(device_id, timestamp);
}
