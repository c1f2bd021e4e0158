import { basename, join } from "node:path";
import type { Files } from "../runtime/files.ts";
import { directoryPaths } from "./paths.ts";

/** A folder holds files of something else: a wrong path, into which nothing must be written. */
export class ForeignDirectoryError extends Error {
  override readonly name = "ForeignDirectoryError";
  constructor(dataDir: string, found: string) {
    super(
      `"${dataDir}" is no data directory: it holds other files, such as "${found}". ` +
        "Name a data directory, or a folder that is empty or not there yet, with --data-dir.",
    );
  }
}

/** Files of a data directory or a backup. Folders called `archive` or `wal` are not enough: others have them too. */
const MARKS = ["keys.json", "directory-id", "cluster.json", "archive/manifest.json", "backup.json"];

/** Folders of a data directory and a backup that have no path of their own in the program. */
const MORE_NAMES = ["imports", "joining", "next"];

/** What file systems and tools leave in folders that hold nothing else. */
const LEFT_BY_OTHERS = ["lost+found", ".DS_Store", ".gitkeep"];

/** Throws a `ForeignDirectoryError` for a folder that holds something and has no mark of ours. */
export async function refuseForeign(files: Pick<Files, "list" | "exists">, dataDir: string): Promise<void> {
  const names = [...Object.values(directoryPaths(dataDir)).map((path) => basename(path)), ...MORE_NAMES];
  const isOurs = (name: string) => names.some((ours) => name === ours || name.startsWith(`${ours}.`));
  const found = (await files.list(dataDir)).find((name) => !isOurs(name) && !LEFT_BY_OTHERS.includes(name));
  if (found === undefined) return;
  for (const mark of MARKS) if (await files.exists(join(dataDir, mark))) return;
  throw new ForeignDirectoryError(dataDir, found);
}
