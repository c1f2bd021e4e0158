import { join } from "node:path";
import { temporaryOf } from "../directory/temporary-files.ts";
import type { Files } from "../runtime/files.ts";
import { parseDayFolder, parsePartName, parseStandingName } from "./archive-files.ts";
import type { Manifest } from "./manifest.ts";

/** Files in the archive's folders that the manifest does not name. */
export interface StrayFiles {
  /** Files with a name of ours, left by a seal that was interrupted or could not remove them. */
  readonly leftover: readonly string[];
  /** Other Parquet files, or those of seals later than this manifest. They are never changed. */
  readonly foreign: readonly string[];
}

/** Searches the folders of days and of the checkpoint. Paths are relative to the archive, with `/`. */
export async function findStrayFiles(
  files: Files,
  directory: string,
  manifest: Manifest,
): Promise<StrayFiles> {
  const named = new Set(
    [
      ...[...manifest.days.values(), ...manifest.expired.values()].flatMap(({ parts, lost }) => [
        ...parts,
        ...lost,
      ]),
      ...(manifest.latest ?? []),
      ...(manifest.standing === null ? [] : [manifest.standing]),
    ].map(({ file }) => file),
  );
  const stray = { leftover: [] as string[], foreign: [] as string[] };
  for (const folder of await files.list(directory)) {
    if (folder.endsWith(".parquet")) stray.foreign.push(folder);
    if (!FOLDERS.includes(folder) && parseDayFolder(folder) === null) continue;
    for (const name of await files.list(join(directory, folder))) {
      const file = `${folder}/${name}`;
      if (named.has(file)) continue;
      const temporary = temporaryOf(name);
      const seal = parsePartName(temporary ?? name) ?? parseStandingName(temporary ?? name);
      // At most one seal was in progress when the manifest was last written.
      if (seal !== null && (temporary !== null || seal <= manifest.seal + 1)) stray.leftover.push(file);
      else if (name.endsWith(".parquet")) stray.foreign.push(file);
    }
  }
  return stray;
}

/** Folders of the archive besides those of days. */
const FOLDERS: readonly string[] = ["latest", "standing"];

/** A file in `expired/`. */
export interface AsideFile {
  readonly sinceMs: number;
  /** The folder named after the time of the move; below it are the archive's own folders. */
  readonly folder: string;
  /** Its path in that folder, and before that in the archive. */
  readonly file: string;
}

/** All files in `expired/`, where `Archive.tidy()` moves what an interrupted seal left. */
export async function listAside(files: Files, directory: string): Promise<AsideFile[]> {
  const asideFiles: AsideFile[] = [];
  for (const since of await files.list(directory)) {
    if (!/^\d+$/.test(since)) continue;
    const folder = join(directory, since);
    for (const inner of await files.list(folder)) {
      for (const name of await files.list(join(folder, inner)))
        asideFiles.push({ sinceMs: Number(since), folder, file: `${inner}/${name}` });
    }
  }
  return asideFiles;
}
