/*
 * Pieces of a file on their way out.
 */

/** What a few thousand records take; a longer piece gets more. */
export const PIECE_BYTES_EXPECTED = 1 << 20;

export const NOTHING: Uint8Array<ArrayBuffer> = new Uint8Array(0);

/** Bytes of a text that is written once a file. */
export function textPiece(text: string): Uint8Array<ArrayBuffer> {
  return new TextEncoder().encode(text);
}
