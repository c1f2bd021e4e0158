import type { RandomInput } from "../../runtime/inputs/inputs.ts";
import type { Source } from "./source.ts";

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
