import type { RefusedMessage } from "../../clients/refused-message.ts";
import type { Files } from "../../runtime/files.ts";
import { decodeMessage } from "./entry-format.ts";
import { readFrames, type Segment } from "./segment.ts";

/*
 * Bodies are not in memory: the whole segment is read for one of its entries, a megabyte mostly.
 */

/** The message of an entry; null where the segment has it no more. */
export async function readEntry(
  files: Files,
  { path }: Segment,
  sequence: number,
): Promise<RefusedMessage | null> {
  const { views, scanner } = readFrames(await files.read(path), path);
  while (scanner.next()) {
    if (scanner.sequence === sequence) return decodeMessage(views, scanner.payloadStart, scanner.payloadEnd);
  }
  return null;
}

/** Which of its entries a segment has, as the disk shows it now. */
export async function readSequences(files: Files, { path }: Segment): Promise<Set<number>> {
  const { scanner } = readFrames(await files.read(path), path);
  const sequences = new Set<number>();
  while (scanner.next()) sequences.add(scanner.sequence);
  return sequences;
}
