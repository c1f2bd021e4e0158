import { pipeline, Readable } from "node:stream";
import { createGunzip } from "node:zlib";
import { unzstd } from "../../lib/bytes/unzstd.ts";

/** A file, or standard input, that reports are imported from. */
export interface ImportInput {
  /** As the user named it. */
  readonly name: string;
  /** Null for a pipe, which can be read once and has no size. */
  readonly sizeBytes: number | null;
  /** All bytes from the start. Throws where they can't be read. */
  pieces(): AsyncIterable<Uint8Array>;
}

export const IMPORT_FORMATS = ["csv", "ndjson"] as const;
export type ImportFormat = (typeof IMPORT_FORMATS)[number];

/** The input can't be read any further; what came before it was good. */
export class InputError extends Error {
  override readonly name = "InputError";
}

/** What a file's name says about its content; null where it doesn't say. */
export function formatOfName(name: string): ImportFormat | null {
  const [, extension] = /\.([a-z]+)(?:\.(?:gz|zst))?$/.exec(name.toLowerCase()) ?? [];
  if (extension === "csv") return "csv";
  return extension === "ndjson" || extension === "jsonl" ? "ndjson" : null;
}

/** Decompressed pieces: a few thousand rows each, and small beside a batch of reports. */
const CHUNK_BYTES = 256 * 1024;

/** The input's text, decompressed as its name says. `onRead` hears how many bytes of the file are read. */
export async function* readText(
  input: ImportInput,
  onRead: (bytesRead: number) => void,
): AsyncGenerator<Uint8Array> {
  try {
    yield* decompressed(input.name.toLowerCase(), counted(input.pieces(), onRead));
  } catch (cause) {
    throw new InputError(reasonOf(cause), { cause });
  }
}

function reasonOf(cause: unknown): string {
  if (!(cause instanceof Error)) return String(cause);
  // Often a plain file whose name ends in .gz, of which zlib says no more than "incorrect header check".
  const isNoGzip = "code" in cause && cause.code === "Z_DATA_ERROR";
  return isNoGzip ? `it is not gzip, or is damaged (${cause.message})` : cause.message;
}

/** A file is the operator's: it may have any number of them. */
const ANY_NUMBER = { framesMax: Number.POSITIVE_INFINITY, blocksMax: Number.POSITIVE_INFINITY };

function decompressed(name: string, pieces: AsyncIterable<Uint8Array>): AsyncIterable<Uint8Array> {
  if (name.endsWith(".zst")) return unzstd(pieces, ANY_NUMBER);
  if (!name.endsWith(".gz")) return pieces;
  return pipeline(Readable.from(pieces), createGunzip({ chunkSize: CHUNK_BYTES }), () => undefined);
}

async function* counted(
  pieces: AsyncIterable<Uint8Array>,
  onRead: (bytesRead: number) => void,
): AsyncGenerator<Uint8Array> {
  let bytesRead = 0;
  for await (const piece of pieces) {
    bytesRead += piece.length;
    onRead(bytesRead);
    yield piece;
  }
}
