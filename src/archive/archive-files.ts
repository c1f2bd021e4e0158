import { join } from "node:path";
import { parseUtcDayName, type UtcDay, utcDayName } from "../model/time/utc-day.ts";
import type { Files } from "../runtime/files.ts";

/*
 * What lies in the archive directory. Names of files begin with the number of the seal that made them and are
 * never used twice; what the manifest does not name is not part of the archive.
 *
 *   manifest.json                      what is sealed
 *   day=2026-11-14/00000012-000.parquet    records of a UTC day
 *   latest/00000012-000.parquet            the newest sealed record of every device
 *   expired/1763078400000/day=2025-11-13/...   what a seal left that was cut off, for a day from that time on
 *   scratch/                           work under way; emptied at each start
 */

export function archivePaths(directory: string) {
  return {
    manifest: join(directory, "manifest.json"),
    scratch: join(directory, "scratch"),
    expired: join(directory, "expired"),
    latest: join(directory, "latest"),
  };
}

/** The folder of a day, as tools that know Hive partitions read it: `day=2026-11-14`. */
export function dayFolder(day: UtcDay): string {
  return `day=${utcDayName(day)}`;
}

/** The day of such a folder; null for any other name. */
export function parseDayFolder(name: string): UtcDay | null {
  return name.startsWith("day=") ? parseUtcDayName(name.slice("day=".length)) : null;
}

/** Whether a file lies in the archive directory itself, and not in a folder of it. */
export function isInArchive(name: string): boolean {
  return name === "manifest.json";
}

/** A Parquet file's name: the seal that made it, and which of that seal's files for the folder it is. */
export function partName(seal: number, index: number): string {
  return `${String(seal).padStart(8, "0")}-${String(index).padStart(3, "0")}.parquet`;
}

/** The seal of such a name; null for any other. */
export function parsePartName(name: string): number | null {
  const match = /^(\d{8,15})-\d{3,}\.parquet$/.exec(name);
  return match === null ? null : Number(match[1]);
}

/** The name of a part among damaged bytes, which lie in one folder. */
export function lostName(file: string): string {
  return `${file.replaceAll("/", "-")}.damaged`;
}

/** A file that by its name may be a part of a day: what is left to go by if the manifest is lost. */
export interface PartFile {
  /** Its path under the archive directory, with `/`. */
  readonly file: string;
  readonly day: UtcDay;
  /** The seal that made it. */
  readonly seal: number;
}

/** Lists all part files. A first seal that failed leaves empty folders, which make no archive. */
export async function listPartFiles(files: Files, directory: string): Promise<PartFile[]> {
  const found: PartFile[] = [];
  for (const folder of await files.list(directory)) {
    const day = parseDayFolder(folder);
    if (day === null) continue;
    for (const name of await files.list(join(directory, folder))) {
      const seal = parsePartName(name);
      if (seal !== null) found.push({ file: `${folder}/${name}`, day, seal });
    }
  }
  return found;
}
