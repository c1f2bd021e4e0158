import { join } from "node:path";
import { parseUtcDayName, type UtcDay, utcDayName } from "../model/time/utc-day.ts";
import type { Files } from "../runtime/files.ts";

/*
 * The files of the archive directory. Names begin with the number of the seal that made the file and are never used
 * twice. A file that the manifest does not name is not part of the archive.
 *
 *   manifest.json                          which days are archived, and in which files
 *   day=2026-11-14/00000012-000.parquet    records of a UTC day
 *   latest/00000012-000.parquet            the checkpoint: the newest archived record of every device
 *   standing/00000012.entries              the entries of the log that stand (standing-file.ts)
 *   expired/1763078400000/day=2025-11-13/...   files of an interrupted seal, kept for a day from that time (Unix ms) on
 *   scratch/                               work in progress; emptied at each start
 */

export function archivePaths(directory: string) {
  return {
    manifest: join(directory, "manifest.json"),
    scratch: join(directory, "scratch"),
    expired: join(directory, "expired"),
    latest: join(directory, "latest"),
    standing: join(directory, "standing"),
  };
}

/** The folder of a day, in Hive's notation for partitions: `day=2026-11-14`. */
export function dayFolder(day: UtcDay): string {
  return `day=${utcDayName(day)}`;
}

/** The day of a folder; null if it is not the folder of a day. */
export function parseDayFolder(name: string): UtcDay | null {
  return name.startsWith("day=") ? parseUtcDayName(name.slice("day=".length)) : null;
}

/** Whether a file belongs into the archive directory itself, not into a folder of it. */
export function isInArchive(name: string): boolean {
  return name === "manifest.json";
}

/** A Parquet file's name, of the seal that made it and the file's index among that seal's files for the folder. */
export function partName(seal: number, index: number): string {
  return `${String(seal).padStart(8, "0")}-${String(index).padStart(3, "0")}.parquet`;
}

/** The seal in a file's name; null if it is not the name of a part. */
export function parsePartName(name: string): number | null {
  const match = /^(\d{8,15})-\d{3,}\.parquet$/.exec(name);
  return match === null ? null : Number(match[1]);
}

/** The name of a seal's file of standing entries. */
export function standingName(seal: number): string {
  return `${String(seal).padStart(8, "0")}.entries`;
}

/** The seal in the name of a file of standing entries; null if it is not one. */
export function parseStandingName(name: string): number | null {
  const match = /^(\d{8,15})\.entries$/.exec(name);
  return match === null ? null : Number(match[1]);
}

/** The files of standing entries, by their path in the archive, the newest first. */
export async function listStandingFiles(files: Files, directory: string): Promise<string[]> {
  const names = (await files.list(archivePaths(directory).standing)).filter(
    (name) => parseStandingName(name) !== null,
  );
  return names
    .sort((a, b) => parseStandingName(b)! - parseStandingName(a)!)
    .map((name) => `standing/${name}`);
}

/** Whether an archive without a manifest has lost it. */
export async function hasFiles(files: Files, directory: string): Promise<boolean> {
  if ((await listPartFiles(files, directory)).length > 0) return true;
  return (await listStandingFiles(files, directory)).length > 0;
}

/** The name of a part in the directory of damaged files, which has no folders. */
export function lostName(file: string): string {
  return `${file.replaceAll("/", "-")}.damaged`;
}

/** A file whose name is that of a part of a day. If the manifest is lost, it is rebuilt from such files. */
export interface PartFile {
  /** Its path under the archive directory, with `/`. */
  readonly file: string;
  readonly day: UtcDay;
  readonly seal: number;
}

/** Lists all part files. Empty folders, as a failed first seal leaves them, don't count. */
export async function listPartFiles(files: Files, directory: string): Promise<PartFile[]> {
  const parts: PartFile[] = [];
  for (const folder of await files.list(directory)) {
    const day = parseDayFolder(folder);
    if (day === null) continue;
    for (const name of await files.list(join(directory, folder))) {
      const seal = parsePartName(name);
      if (seal !== null) parts.push({ file: `${folder}/${name}`, day, seal });
    }
  }
  return parts;
}
