import { MapFileError } from "../basemap/map-file-error.ts";
import { RecordingError } from "../demo/recording.ts";
import { NewerFormatError } from "../lib/newer-format-error.ts";
import { DirectoryInUseError } from "../open-directory.ts";
import { FileError } from "../runtime/files.ts";
import { ListenError } from "../runtime/listen.ts";
import { NoDirectoryError } from "./data-directory.ts";

/** Failures of the machine, of a neighbour or of who typed the command: their own words say enough. */
export function isExplained(error: unknown): error is Error {
  return EXPLAINED.some((kind) => error instanceof kind);
}

const EXPLAINED = [
  DirectoryInUseError,
  FileError,
  ListenError,
  MapFileError,
  NewerFormatError,
  NoDirectoryError,
  RecordingError,
];
