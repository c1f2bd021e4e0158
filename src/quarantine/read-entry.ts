import type { RefusedMessage } from "../clients/refused-message.ts";
import { FileError, type Files } from "../runtime/files.ts";
import { decodeMessage } from "./entry-format.ts";
import { readFrames, type Segment } from "./segment.ts";

/*
 * Bodies are not in memory: the whole segment is read for one of its entries, a megabyte mostly.
 */

/** The message of an entry; null where the segment has it no more. */
export async function readEntry(
  files: Files,
  segment: Segment,
  sequence: number,
): Promise<RefusedMessage | null> {
  const { path, bytes } = await readWhole(files, segment);
  const { views, scanner } = readFrames(bytes, path);
  while (scanner.next()) {
    if (scanner.sequence === sequence) return decodeMessage(views, scanner.payloadStart, scanner.payloadEnd);
  }
  return null;
}

/** Which of its entries a segment has, as the disk shows it now. */
export async function readSequences(files: Files, segment: Segment): Promise<Set<number>> {
  const { path, bytes } = await readWhole(files, segment);
  const { scanner } = readFrames(bytes, path);
  const sequences = new Set<number>();
  while (scanner.next()) sequences.add(scanner.sequence);
  return sequences;
}

/** Its name may change meanwhile. */
async function readWhole(files: Files, segment: Segment): Promise<{ path: string; bytes: Uint8Array }> {
  for (;;) {
    const { path } = segment;
    try {
      return { path, bytes: await files.read(path) };
    } catch (error) {
      const isMoved = error instanceof FileError && error.code === "ENOENT" && segment.path !== path;
      if (!isMoved) throw error;
    }
  }
}
