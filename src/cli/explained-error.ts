import { NewerFormatError } from "../lib/newer-format-error.ts";
import { DirectoryInUseError } from "../open-directory.ts";
import { FileError } from "../runtime/files.ts";
import { ListenError } from "../runtime/listen.ts";
import { NoDirectoryError } from "./data-directory.ts";

/** Failures of the machine, of a neighbour or of who typed the command: their own words say enough. */
export function isExplained(error: unknown): error is Error {
  return [DirectoryInUseError, FileError, ListenError, NewerFormatError, NoDirectoryError].some(
    (kind) => error instanceof kind,
  );
}
