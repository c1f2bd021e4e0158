import { basename, dirname } from "node:path";
import { HEAD_BYTES } from "../../lib/frames/head.ts";
import { fail, ok, type Result } from "../../lib/result.ts";
import type { Wait } from "../../lib/schedule/timers.ts";
import type { Files } from "../../runtime/files.ts";
import { readSegments } from "../../service/quarantine/read-segments.ts";
import type { CopyPath } from "./copy-path.ts";
import type { FileSum, JoiningDirectory } from "./joining-directory.ts";
import { BrokenOffError, type Peer, type PeerFault, type TakenFile } from "./peer.ts";

/** A file of the copy, in its place. */
export interface Brought {
  readonly file: CopyPath;
  readonly bytes: number;
  /** False where it was there already. */
  readonly isCopied: boolean;
}

export type BringFault = PeerFault;

export interface BringOptions {
  readonly peer: Peer;
  /** Whose files they are. */
  readonly nodeId: string;
  readonly target: JoiningDirectory;
  readonly wait: Wait;
  readonly signal: AbortSignal;
}

/** The connection, or the peer, may be back after a while: it is waited for half a minute in all. */
const TRIES_MAX = 6;
const FIRST_WAIT_MS = 1000;

/**
 * Brings a file of the peer to its place, as often as it takes; `wanted` is null where nobody knows what it should be.
 */
export async function bring(
  { peer, nodeId, target, wait, signal }: BringOptions,
  file: CopyPath,
  wanted: FileSum | null,
): Promise<Result<Brought, BringFault>> {
  for (let tries = 1; ; tries++) {
    const taken = await peer.take(nodeId, file);
    const fault = taken.ok ? await write(target, file, taken.value, wanted) : taken.error;
    if (fault === null) {
      await target.accept(file);
      return ok({ file, bytes: taken.ok ? taken.value.bytes : 0, isCopied: true });
    }
    if (fault.kind !== "broken" || tries === TRIES_MAX) return fail(fault);
    await wait(FIRST_WAIT_MS * 2 ** (tries - 1), signal);
    signal.throwIfAborted();
  }
}

/** What is wrong with what came; null where all is as it should be. */
async function write(
  target: JoiningDirectory,
  file: CopyPath,
  taken: TakenFile,
  wanted: FileSum | null,
): Promise<BringFault | null> {
  let written: FileSum;
  try {
    written = await target.write(file, atMost(taken));
  } catch (error) {
    if (!(error instanceof BrokenOffError)) throw error;
    return { kind: "broken", message: error.message };
  }
  const { bytes, crc } = wanted ?? { bytes: taken.bytes, crc: written.crc };
  if (written.bytes === bytes && written.crc === crc) return null;
  const what =
    written.bytes === bytes ? "other bytes than were written" : `${written.bytes} bytes of ${bytes}`;
  return { kind: "broken", message: `"${file}" came with ${what}.` };
}

/** No more than the peer told: it fills no disk. */
async function* atMost({ bytes, pieces }: TakenFile): AsyncGenerator<Uint8Array> {
  let left = bytes;
  for await (const piece of pieces()) {
    if (piece.length > left) throw new BrokenOffError("The peer sent more of a file than it told.");
    left -= piece.length;
    yield piece;
  }
}

/**
 * The peer may have been writing to any of these segments while it was read: an entry that was cut short is taken off,
 * and comes over the log. Resolves with what else is wrong with them, a line each.
 */
export async function cutTornTails(
  files: Files,
  target: JoiningDirectory,
  segments: readonly CopyPath[],
): Promise<string[]> {
  const [first] = segments;
  if (first === undefined) return [];
  const problems: string[] = [];
  for (const { path, bytes, isReadable, damage, tornTail } of await readSegments(
    files,
    dirname(target.pathOf(first)),
  )) {
    const file = `quarantine/${basename(path)}`;
    if (!isReadable) {
      problems.push(`${file}: it can't be read`);
      continue;
    }
    const last = tornTail ?? damage.at(-1);
    const isTail = last !== undefined && last.offset >= HEAD_BYTES && last.offset + last.bytes === bytes;
    if (isTail) await cut(files, path, last.offset);
    for (const range of damage) {
      if (!isTail || range !== last)
        problems.push(`${file}: ${range.bytes} damaged bytes at ${range.offset}`);
    }
  }
  return problems;
}

async function cut(files: Files, path: string, bytes: number): Promise<void> {
  const file = await files.openAppend(path);
  try {
    await file.truncate(bytes);
    await file.sync();
  } finally {
    await file.close();
  }
}
