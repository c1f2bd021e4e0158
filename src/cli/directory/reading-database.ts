import { join } from "node:path";
import { DEFAULT_ARCHIVE_CONFIG } from "../../app/config.ts";
import { type Database, openDatabase } from "../../archive/duckdb/database.ts";
import { directoryPaths } from "../../directory/paths.ts";

/** A database for who reads the archive of a data directory, also beside the process that has it. */
export function openReadingDatabase(dataDir: string): Promise<Database> {
  const { archive } = directoryPaths(dataDir);
  const { archiveThreads: threads, archiveMemoryBytes: memoryBytes } = DEFAULT_ARCHIVE_CONFIG;
  const spillDirectory = join(archive, "scratch");
  return openDatabase({ threads, memoryBytes, directories: [archive], spillDirectory, cachesFiles: false });
}
