import { join } from "node:path";
import { parseVersionedJson } from "../../lib/text/versioned-json.ts";
import { type Files, readIfThere } from "../../runtime/files.ts";
import { STREAM_POSITION_FILE } from "../../service/quarantine/segment.ts";
import { parseTakenMessage, type TakenMessage } from "../stream/stream.ts";

/** The position of a directory's quarantine in its stream. */
export interface StreamPosition {
  /** The stream's creation time, as text from its servers. */
  readonly created: string;
  /** All messages up to this one are applied; some later ones may be. */
  readonly message: number;
  /** The last applied message, or an earlier one; null if there is none. */
  readonly lastTaken: TakenMessage | null;
}

/*
 * The position is stored beside the entries, in `stream.json`. A copy of the quarantine takes it first: it is then
 * behind the entries, and applying them again does no harm.
 */
export { STREAM_POSITION_FILE };

const FORMAT_VERSION = 2;

/** The file exists but can't be read, so the position is unknown. */
export class StreamPositionError extends Error {
  override readonly name = "StreamPositionError";
  constructor(path: string, reason: string) {
    super(
      `${path} can't be used: ${reason}. Copy the data of another node: join URL --again --data-dir DIR.`,
    );
  }
}

/** Returns null if there is none. Throws a `StreamPositionError` if it can't be used. */
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
