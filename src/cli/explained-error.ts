import { NewerFormatError } from "../lib/newer-format-error.ts";
import { DirectoryInUseError } from "../open-directory.ts";
import { FileError, type Files } from "../runtime/files.ts";
import { ListenError } from "../runtime/listen.ts";

/** There is nothing where a command should find its data. */
class NoDirectoryError extends Error {
  override readonly name = "NoDirectoryError";
}

/** Failures of the machine, of a neighbour or of who typed the command: their own words say enough. */
export function isExplained(error: unknown): error is Error {
  return [DirectoryInUseError, FileError, ListenError, NewerFormatError, NoDirectoryError].some(
    (kind) => error instanceof kind,
  );
}

/** Throws an explained error where there is no data directory. */
export async function expectDataDirectory(files: Files, dataDir: string): Promise<void> {
  if (!(await files.exists(dataDir))) throw new NoDirectoryError(`There is no data directory "${dataDir}".`);
}
