import { dirname } from "node:path";
import type { Files } from "../../runtime/files.ts";

/**
 * Where there is room for what can't be read again: on the disk of the data directory, which has it sooner than one for
 * temporary files, and which this process may write to; in what is there of its path, since it may not be there yet.
 */
export async function spoolDirectoryFor(dataDir: string, files: Pick<Files, "exists">): Promise<string> {
  let directory = dataDir;
  while (!(await files.exists(directory)) && dirname(directory) !== directory) directory = dirname(directory);
  return directory;
}
