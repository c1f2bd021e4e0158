import { join } from "node:path";
import { DEFAULT_ARCHIVE_CONFIG } from "../../app/config.ts";
import { type Database, openDatabase } from "../../archive/duckdb/database.ts";
import { sealedRetention } from "../../archive/manifest.ts";
import { directoryPaths } from "../../directory/paths.ts";
import { Settings } from "../../directory/settings.ts";
import { refuseForeign } from "../../directory/take-directory.ts";
import { printableLine } from "../../lib/text/printable.ts";
import type { Clock } from "../../model/time/clock.ts";
import type { Files } from "../../runtime/files.ts";
import type { Platform } from "../../runtime/platform.ts";
import type { Sharing } from "../cluster/node-directory.ts";

/* What a command can open of a data directory while another process owns it. */

export class NoDirectoryError extends Error {
  override readonly name = "NoDirectoryError";
}

/** Throws an explained error if the directory does not exist, or belongs to another program. */
export async function expectDataDirectory(files: Files, dataDir: string): Promise<void> {
  if (!(await files.exists(dataDir))) throw new NoDirectoryError(`There is no data directory "${dataDir}".`);
  await refuseForeign(files, dataDir);
}

/** What a command prints if it creates a data directory, since the path may be a mistake. */
export function newDirectoryText(dataDir: string): string {
  return `Created data directory "${printableLine(dataDir)}". If you meant another one, name it with --data-dir.`;
}

export async function openSettings(
  command: string,
  dataDir: string,
  { files, acquireLock, pid, shared = null }: Sharing<Pick<Platform, "files" | "acquireLock" | "pid">>,
  clock: Clock,
): Promise<Settings> {
  const { settings: path, archive } = directoryPaths(dataDir);
  const process = { pid, command };
  await refuseForeign(files, dataDir);
  return Settings.open({ files, path, clock, acquireLock, process, shared }, () =>
    sealedRetention(files, archive),
  );
}

/** What is wrong with the settings file; null if nothing is. */
export function settingsFault({ state }: Settings): string | null {
  if (typeof state !== "object") return null;
  return `settings.json can't be used: ${state.damaged}. Until it is restored, no record expires.`;
}

export function openReadingDatabase(dataDir: string): Promise<Database> {
  const { archive } = directoryPaths(dataDir);
  return openDatabase({ ...readingLimits(archive), directories: [archive] });
}

/** Opens a database for a search of all files, since Parquet files may wait in another folder of a backup. */
export function openSearchingDatabase(dataDir: string): Promise<Database> {
  return openDatabase({ ...readingLimits(directoryPaths(dataDir).archive), directories: [dataDir] });
}

function readingLimits(archive: string) {
  const { archiveThreads: threads, archiveMemoryBytes: memoryBytes } = DEFAULT_ARCHIVE_CONFIG;
  return { threads, memoryBytes, spillDirectory: join(archive, "scratch"), cachesFiles: false };
}
