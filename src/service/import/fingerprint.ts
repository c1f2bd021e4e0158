import { createHash } from "node:crypto";
import type { ImportInput } from "./input.ts";

/**
 * Tells a file by every byte of it, wherever it lies and whenever it was written: one that was edited since is
 * another, and its import begins anew. Null for a pipe, and where the signal came or the file can't be read, which its
 * import tells.
 */
export async function fingerprintOf(
  input: ImportInput,
  onRead: (bytesRead: number) => void,
  signal: AbortSignal,
): Promise<string | null> {
  if (input.sizeBytes === null) return null;
  const hash = createHash("sha256");
  let bytesRead = 0;
  try {
    for await (const piece of input.pieces()) {
      if (signal.aborted) return null;
      hash.update(piece);
      bytesRead += piece.length;
      onRead(bytesRead);
    }
  } catch {
    return null;
  }
  return hash.digest("hex");
}

/** What makes two imports the same one: one that was interrupted goes on where all of it is equal. */
export function importKey(identity: readonly (string | boolean | null)[]): string {
  return createHash("sha256").update(JSON.stringify(identity)).digest("hex").slice(0, 16);
}
