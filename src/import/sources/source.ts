import type { Content } from "../../formats/read/format.ts";
import type { NotHistory } from "../../formats/read/not-history.ts";
import type { RandomInput } from "../../runtime/inputs.ts";

/** A file of an import, unpacked: one on the disk, one in an archive, or what comes through a pipe. */
export interface Source extends Content, Whereabouts {
  /**
   * Throws a `FormatError` where the rest can't be read, or is more than may be unpacked. `onRead` hears how many bytes
   * of it are read, packed as it is.
   */
  pieces(onRead?: (packedBytesRead: number) => void): AsyncIterable<Uint8Array>;
  /**
   * A hash that tells this content from any other: of where it lies, its size, when it was written and its first and
   * last 64 KiB; in an archive of the archive's, and which entry it is. Null for a pipe.
   */
  identity(): Promise<string | null>;
}

/** Where something that an import came across lies. */
export interface Whereabouts {
  /** Tells it from all else that the walk comes across: an archive may have several files of one name. */
  readonly key: string;
  /** For people: `takeout-001.zip › Takeout/Location History/Records.json`. */
  readonly label: string;
  /** Whether the operator named it, rather than a folder or an archive that it is in. */
  readonly isNamed: boolean;
  /** Bytes that it takes where it lies; null for a pipe. */
  readonly packedBytes: number | null;
}

/** What an import comes across on its way. */
export type Found =
  | { readonly kind: "file"; readonly source: Source }
  /** Something that was not looked into, since where it lies or what it is called says enough. */
  | { readonly kind: "left_alone"; readonly where: Whereabouts; readonly what: NotHistory }
  /** Something that can't be read at all, and why; what else there is goes on. */
  | { readonly kind: "failed"; readonly where: Whereabouts; readonly reason: string };

/** Everything that an import was given: files, folders, archives, a pipe. */
export interface Sources {
  /**
   * One after the other, in the same order each time: as given, a folder by name, an archive as it lies. A source is
   * good until the next is asked for.
   */
  walk(): AsyncIterable<Found>;
  /** Gives up what was put aside on the disk. */
  close(): Promise<void>;
}

/** A source that may turn out to be packed. */
export interface StoredFile extends Source {
  /** Opens it to be read anywhere; what is in no file of its own is put aside on the disk first. */
  openRandom(): Promise<RandomInput>;
}

/** Small beside a batch of reports, and large beside what a read costs. */
export const PIECE_BYTES = 256 * 1024;

/** The bytes from `start` to `end`, or to where they stop before that. */
export async function* piecesOf(input: RandomInput, start: number, end: number): AsyncGenerator<Uint8Array> {
  for (let at = start; at < end; ) {
    const piece = new Uint8Array(Math.min(PIECE_BYTES, end - at));
    const bytesRead = await input.read(piece, at);
    if (bytesRead > 0) yield piece.subarray(0, bytesRead);
    if (bytesRead < piece.length) return;
    at += bytesRead;
  }
}

/** The same pieces; `onRead` hears how many bytes were taken so far. */
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
