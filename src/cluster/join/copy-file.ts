import { fail, ok, type Result } from "../../lib/result.ts";
import type { Wait } from "../../lib/schedule/timers.ts";
import type { CopyPath } from "./copy-path.ts";
import type { FileSum, JoiningDirectory } from "./joining-directory.ts";
import { BrokenOffError, type Peer, type PeerFault, type PeerFile } from "./peer.ts";

/** A copied file in its final place. */
export interface CopiedFile {
  readonly file: CopyPath;
  readonly bytes: number;
  /** False if the file was there already. */
  readonly isCopied: boolean;
}

export interface CopyFileOptions {
  readonly peer: Peer;
  /** The id of the peer's node. */
  readonly nodeId: string;
  readonly target: JoiningDirectory;
  readonly wait: Wait;
  readonly signal: AbortSignal;
}

/** An interrupted transfer is retried for half a minute in all. */
const TRIES_MAX = 6;
const FIRST_WAIT_MS = 1000;

/** Copies a file from the peer, with retries; `expected` is null if its size and checksum are unknown. */
export async function copyFile(
  { peer, nodeId, target, wait, signal }: CopyFileOptions,
  file: CopyPath,
  expected: FileSum | null,
): Promise<Result<CopiedFile, PeerFault>> {
  for (let tries = 1; ; tries++) {
    const answer = await peer.take(nodeId, file);
    const fault = answer.ok ? await write(target, file, answer.value, expected) : answer.error;
    if (fault === null) {
      await target.accept(file);
      return ok({ file, bytes: answer.ok ? answer.value.bytes : 0, isCopied: true });
    }
    if (fault.kind !== "broken" || tries === TRIES_MAX) return fail(fault);
    await wait(FIRST_WAIT_MS * 2 ** (tries - 1), signal);
    signal.throwIfAborted();
  }
}

/** Returns null if the file arrived intact. */
async function write(
  target: JoiningDirectory,
  file: CopyPath,
  source: PeerFile,
  expected: FileSum | null,
): Promise<PeerFault | null> {
  let written: FileSum;
  try {
    written = await target.write(file, atMost(source));
  } catch (error) {
    if (!(error instanceof BrokenOffError)) throw error;
    return { kind: "broken", message: error.message };
  }
  const { bytes, crc } = expected ?? { bytes: source.bytes, crc: written.crc };
  if (written.bytes === bytes && written.crc === crc) return null;
  const what =
    written.bytes === bytes ? "other bytes than were written" : `${written.bytes} bytes of ${bytes}`;
  return { kind: "broken", message: `"${file}" arrived with ${what}.` };
}

/** Limits the file to the announced size, so that a peer can't fill the disk. */
async function* atMost({ bytes, pieces }: PeerFile): AsyncGenerator<Uint8Array> {
  let left = bytes;
  for await (const piece of pieces()) {
    if (piece.length > left) throw new BrokenOffError("The peer sent more of a file than it announced.");
    left -= piece.length;
    yield piece;
  }
}
