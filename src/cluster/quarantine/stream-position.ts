import { join } from "node:path";
import { parseVersionedJson } from "../../lib/text/versioned-json.ts";
import { type Files, readIfThere } from "../../runtime/files.ts";
import { STREAM_POSITION_FILE } from "../../service/quarantine/segment.ts";
import { parseTakenMessage, type TakenMessage } from "../stream/stream.ts";

/** How far a directory's quarantine is in the stream of its cluster's. */
export interface StreamPosition {
  /** When that stream was created, as its servers say it. */
  readonly created: string;
  /** All up to this one is on the disk; some of what follows may be. */
  readonly message: number;
  /** The last one that was taken, or an earlier one; null where none was. */
  readonly lastTaken: TakenMessage | null;
}

/*
 * It lies beside the entries, `stream.json`. A copy of the quarantine takes it before any of them: then it says less
 * than they hold, and what it leaves out comes again, which does no harm.
 */
export { STREAM_POSITION_FILE };

const FORMAT_VERSION = 2;

/** The file is there, and nobody can say how far the quarantine is. */
export class StreamPositionError extends Error {
  override readonly name = "StreamPositionError";
  constructor(path: string, reason: string) {
    super(
      `${path} can't be used: ${reason}. Copy the data of another node: join URL --again --data-dir DIR.`,
    );
  }
}

/** Null where there is none. Throws a `StreamPositionError` where it can't be used. */
export async function readStreamPosition(
  files: Pick<Files, "read">,
  directory: string,
): Promise<StreamPosition | null> {
  const path = join(directory, STREAM_POSITION_FILE);
  const bytes = await readIfThere(files, path);
  if (bytes === null) return null;
  const content = parseVersionedJson(bytes, FORMAT_VERSION);
  if (!content.ok) throw new StreamPositionError(path, content.error);
  const { created, message } = content.value;
  const lastTaken = parseTakenMessage(content.value.lastTaken);
  const isMessage = typeof message === "number" && Number.isSafeInteger(message) && message >= 0;
  if (typeof created !== "string" || !isMessage || lastTaken === undefined)
    throw new StreamPositionError(path, "the message or the stream is missing");
  return { created, message, lastTaken };
}

/** Durable when it resolves. */
export async function writeStreamPosition(
  files: Pick<Files, "makeDirectory" | "replace">,
  directory: string,
  position: StreamPosition,
): Promise<void> {
  const content = `${JSON.stringify({ version: FORMAT_VERSION, ...position })}\n`;
  await files.makeDirectory(directory);
  await files.replace(join(directory, STREAM_POSITION_FILE), new TextEncoder().encode(content));
}
