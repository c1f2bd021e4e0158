import { ignoreFileError } from "../../runtime/files.ts";
import {
  type OpenedQuarantine,
  openQuarantine,
  type QuarantineOptions,
} from "../../service/quarantine/open-quarantine.ts";
import type { Quarantine } from "../../service/quarantine/quarantine.ts";
import { reachedState } from "../log/open-stream-log.ts";
import type { StreamProbe } from "../stream/stream.ts";
import { ReplicatedQuarantine, type ReplicatedQuarantineOptions } from "./replicated-quarantine.ts";
import { writeStreamPosition } from "./stream-position.ts";

/** The stream that replicates the quarantine, and this node's position in it. */
export interface QuarantineStream
  extends Omit<
    ReplicatedQuarantineOptions,
    "store" | "files" | "directory" | "lastAtStart" | "streamBytesMax"
  > {
  /** Defaults to `stream`; then an unreachable server fails the start. */
  readonly probe?: StreamProbe;
}

export interface OpenedReplicated extends Omit<OpenedQuarantine, "quarantine"> {
  readonly quarantine: Quarantine;
}

/** Opens a node's quarantine and lets it catch up for a while. A `StreamError` is `gone` if needed messages are. */
export async function openReplicated(
  options: QuarantineOptions,
  followed: QuarantineStream,
): Promise<OpenedReplicated> {
  const { files, directory } = options;
  const { stream, fromMessage, lastTaken, onPosition, probe = stream } = followed;
  const { lastMessage, bytesMax } = await reachedState(probe, fromMessage, lastTaken);
  const { quarantine: store, ...rest } = await openQuarantine(options);
  try {
    // Written now so that a copy of the quarantine names its stream.
    await writeStreamPosition(files, directory, {
      created: stream.created,
      message: fromMessage - 1,
      lastTaken,
    });
    onPosition(fromMessage - 1);
  } catch (error) {
    ignoreFileError(error); // A full disk must not prevent the start.
  }
  const quarantine = new ReplicatedQuarantine({
    ...followed,
    store,
    files,
    directory,
    lastAtStart: lastMessage,
    streamBytesMax: bytesMax,
  });
  await quarantine.begin();
  return { ...rest, quarantine };
}
