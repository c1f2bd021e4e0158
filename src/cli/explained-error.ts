import { ClusterFileError } from "../cluster/cluster-file.ts";
import { InitError } from "../cluster/init/init-error.ts";
import { MessageError } from "../cluster/log/group-message.ts";
import { ClusterError } from "../cluster/open-cluster.ts";
import { StreamError } from "../cluster/stream/stream.ts";
import { DirectoryInUseError, ForeignDirectoryError } from "../directory/take-directory.ts";
import { FormatVersionError } from "../lib/text/versioned-json.ts";
import { RemoteArchiveError } from "../map/streets/remote-archive.ts";
import { MapFileError } from "../map/tile-file.ts";
import { FileError } from "../runtime/files.ts";
import { ListenError } from "../runtime/listen.ts";
import { DamagedLogError } from "../wal/read-log.ts";
import { RecordingError } from "./demo/recording.ts";
import { NoDirectoryError } from "./directory/data-directory.ts";

/** Whether the message of an error is enough for a person: the machine, a peer or the command line is at fault. */
export function isExplained(error: unknown): error is Error {
  return EXPLAINED.some((kind) => error instanceof kind);
}

/** The message of an explained error, for a command that adds nothing of its own. */
export function explanationOf(error: Error): string {
  if (!(error instanceof DirectoryInUseError)) return error.message;
  return `${error.message} Stop it, or name another directory with --data-dir.`;
}

const EXPLAINED = [
  ClusterError,
  ClusterFileError,
  DamagedLogError,
  DirectoryInUseError,
  FileError,
  ForeignDirectoryError,
  InitError,
  ListenError,
  MessageError,
  MapFileError,
  FormatVersionError,
  NoDirectoryError,
  RecordingError,
  RemoteArchiveError,
  StreamError,
];
