import { ignoreFileError } from "../../runtime/files.ts";
import {
  type OpenedQuarantine,
  openQuarantine,
  type QuarantineOptions,
} from "../../service/quarantine/open-quarantine.ts";
import type { Quarantine } from "../../service/quarantine/quarantine.ts";
import { reachedState } from "../log/open-stream-log.ts";
import type { AskedStream } from "../stream/stream.ts";
import { ReplicatedQuarantine, type ReplicatedQuarantineOptions } from "./replicated-quarantine.ts";
import { writeStreamPosition } from "./stream-position.ts";

/** The stream that a node's quarantine goes through, and how far it is there. */
export interface QuarantineStream
  extends Omit<
    ReplicatedQuarantineOptions,
    "store" | "files" | "directory" | "lastAtStart" | "streamBytesMax"
  > {
  /** The stream as the start asks it. Left out, a server that is away then fails the start. */
  readonly asked?: AskedStream;
}

/** What a node needs of a quarantine, and what its start found. */
export interface OpenedReplicated extends Omit<OpenedQuarantine, "quarantine"> {
  readonly quarantine: Quarantine;
}

/**
 * Opens the quarantine of a node, and lets it catch up with the others as far as that is soon done. Throws a
 * `StreamError`, `gone` where others have purged what it needs.
 */
export async function openReplicated(
  options: QuarantineOptions,
  followed: QuarantineStream,
): Promise<OpenedReplicated> {
  const { files, directory } = options;
  const { stream, fromMessage, lastTaken, onPosition, asked = stream } = followed;
  const { lastMessage, bytesMax } = await reachedState(asked, fromMessage, lastTaken);
  const { quarantine: store, ...found } = await openQuarantine(options);
  try {
    // From now on a copy of it says which stream it belongs to.
    await writeStreamPosition(files, directory, {
      created: stream.created,
      message: fromMessage - 1,
      lastTaken,
    });
    onPosition(fromMessage - 1);
  } catch (error) {
    ignoreFileError(error); // A full disk is no reason not to start.
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
  return { ...found, quarantine };
}
