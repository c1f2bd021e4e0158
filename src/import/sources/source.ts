import type { Content } from "../../formats/read/format.ts";
import type { NotHistory } from "../../formats/read/not-history.ts";
import type { RandomInput } from "../../runtime/inputs.ts";

/** The decompressed content of an import's file: on the disk, in an archive, or from a pipe. */
export interface Source extends Content, Whereabouts {
  /**
   * Throws a `FormatError` if the rest can't be read, or decompresses to too much. `onRead` is called with the number
   * of compressed bytes that were read.
   */
  pieces(onRead?: (packedBytesRead: number) => void): AsyncIterable<Uint8Array>;
  /**
   * A hash of path, size, modification time and the first and last 64 KiB; in an archive, of the archive's hash and the
   * entry's index. Null for a pipe.
   */
  identity(): Promise<string | null>;
}

/** Where an import came across something. */
export interface Whereabouts {
  /** Unique in a walk: an archive may have several files of one name. */
  readonly key: string;
  /** For messages: `takeout-001.zip › Takeout/Location History/Records.json`. */
  readonly label: string;
  /** Whether the operator named it, rather than a folder or archive that contains it. */
  readonly isNamed: boolean;
  /** The bytes that it occupies there, compressed; null for a pipe. */
  readonly packedBytes: number | null;
}

/** What a walk comes across. */
export type SourceItem =
  | { readonly kind: "file"; readonly source: Source }
  /** A file that was not opened, because its location or name says enough. */
  | { readonly kind: "left_alone"; readonly where: Whereabouts; readonly what: NotHistory }
  /** Something that can't be read, and why; the walk continues. */
  | { readonly kind: "failed"; readonly where: Whereabouts; readonly reason: string };

/** Everything that an import has to read: files, folders, archives, a pipe. */
export interface Sources {
  /**
   * Yields one after the other in the same order each time: as named, a folder by name, an archive by its directory. A
   * source is valid until the next one is requested.
   */
  walk(): AsyncIterable<SourceItem>;
  /** Deletes spooled files. */
  close(): Promise<void>;
}

/** A file that may turn out to be an archive or compressed. */
export interface StoredFile extends Source {
  /** Opens it for random access; content without a file of its own is spooled to disk first. */
  openRandom(): Promise<RandomInput>;
}

/** Small beside a batch of reports, and large beside the cost of a read. */
export const PIECE_BYTES = 256 * 1024;

/** The bytes from `start` to `end`, or to the end of the input. */
export async function* piecesOf(input: RandomInput, start: number, end: number): AsyncGenerator<Uint8Array> {
  for (let at = start; at < end; ) {
    const piece = new Uint8Array(Math.min(PIECE_BYTES, end - at));
    const bytesRead = await input.read(piece, at);
    if (bytesRead > 0) yield piece.subarray(0, bytesRead);
    if (bytesRead < piece.length) return;
    at += bytesRead;
  }
}

/** Passes the pieces on; `onRead` is called with the number of bytes so far. */
export async function* counted(
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
