import { join } from "node:path";
import type { UtcDay } from "../../model/time/utc-day.ts";
import type { Files } from "../../runtime/files.ts";
import { parseDayFolder, parsePartName } from "../archive-files.ts";

/** A file that may be a part of a day, by its name alone. */
export interface PartFile {
  /** Its path under the archive directory, with `/`. */
  readonly file: string;
  readonly day: UtcDay;
  /** The seal that made it. */
  readonly seal: number;
}

/**
 * Every such file, for an archive whose manifest is lost. A first seal that failed leaves empty folders: no archive.
 */
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
