import { join } from "node:path";
import { temporaryOf } from "../directory/temporary-files.ts";
import type { Files } from "../runtime/files.ts";
import { parseDayFolder, parsePartName } from "./archive-files.ts";
import type { Manifest } from "./manifest.ts";

/** Files among the archive's that the manifest does not name. */
export interface StrayFiles {
  /** Named as ours: what a seal left that a crash cut short, or could not remove. */
  readonly leftover: readonly string[];
  /** Parquet files that are not ours, or of seals that this manifest knows nothing of; never touched. */
  readonly foreign: readonly string[];
}

/** Looks through the folders of days and of the newest records. Paths are relative to the archive, with `/`. */
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
    ].map(({ file }) => file),
  );
  const stray = { leftover: [] as string[], foreign: [] as string[] };
  for (const folder of await files.list(directory)) {
    if (folder.endsWith(".parquet")) stray.foreign.push(folder);
    if (folder !== "latest" && parseDayFolder(folder) === null) continue;
    for (const name of await files.list(join(directory, folder))) {
      const file = `${folder}/${name}`;
      if (named.has(file)) continue;
      const temporary = temporaryOf(name);
      const seal = parsePartName(temporary ?? name);
      // One seal at most was under way when the manifest was written last.
      if (seal !== null && (temporary !== null || seal <= manifest.seal + 1)) stray.leftover.push(file);
      else if (name.endsWith(".parquet")) stray.foreign.push(file);
    }
  }
  return stray;
}

/** A file that was moved out of the way. */
export interface AsideFile {
  readonly sinceMs: number;
  /** The folder of the time at which it was moved, which repeats the archive's own folders. */
  readonly folder: string;
  /** Its path in that folder, which it had in the archive before. */
  readonly file: string;
}

/** Everything in `expired/`, where `tidy` moves what a seal left that was cut off. */
export async function listAside(files: Files, directory: string): Promise<AsideFile[]> {
  const found: AsideFile[] = [];
  for (const since of await files.list(directory)) {
    if (!/^\d+$/.test(since)) continue;
    const folder = join(directory, since);
    for (const inner of await files.list(folder)) {
      for (const name of await files.list(join(folder, inner)))
        found.push({ sinceMs: Number(since), folder, file: `${inner}/${name}` });
    }
  }
  return found;
}
