import { dirname } from "node:path";
import { createSaltedFrames } from "../../../../src/lib/frames/frame.ts";
import { viewsOf } from "../../../../src/lib/frames/views.ts";
import type { AppendFile, Files } from "../../../../src/runtime/files.ts";
import { openSegment, parseSegmentName } from "../../../../src/wal/segment.ts";
import { findFrames, isSegment } from "../disk/log-frames.ts";
import { HUGE_SEQUENCES } from "../reports/forgery.ts";
import { LOG_DIRECTORY } from "../run/service.ts";

/* Disks that lie to the log. */

/** Replaces the files of the log's segments. */
export function withAppends(files: Files, replace: (file: AppendFile) => AppendFile): Files {
  return {
    ...files,
    async openAppend(path) {
      const file = await files.openAppend(path);
      return isSegment(path) ? replace(file) : file;
    },
  };
}

/** So many turns of the microtask queue are a few operations of the simulated disk. */
export const LATE_TURNS = 60;

export function syncedLater(file: AppendFile): AppendFile {
  let syncing: Promise<void> = Promise.resolve();
  return {
    ...file,
    async sync() {
      await syncing; // Of the group before.
      syncing = afterTurns(LATE_TURNS).then(file.sync);
      syncing.catch(() => undefined);
    },
    async close() {
      await syncing;
      await file.close();
    },
  };
}

export async function afterTurns(turns: number): Promise<void> {
  for (let turn = 0; turn < turns; turn++) await undefined;
}

/** Takes `replace` apart, for its steps to be done in another order. */
export function withReplace(
  files: Files,
  finish: (
    file: AppendFile,
    rename: () => Promise<void>,
    syncDirectory: () => Promise<void>,
  ) => Promise<void>,
): Files {
  return {
    ...files,
    async replace(path, bytes) {
      const temporary = `${path}.00000001.tmp`;
      const file = await files.openAppend(temporary);
      await file.append([bytes]);
      await finish(
        file,
        () => files.rename(temporary, path),
        () => files.syncDirectory(dirname(path)),
      );
      await file.close();
    },
  };
}

/** How far sequences go that a log with believed jumps reads back. */
const READ_BACK_MAX = 2 ** 20;

/**
 * A huge sequence among the bytes of a segment, wherever it is from, is where its sequences go on; and segments named
 * by such sequences are none.
 */
export function withBelievedJumps(files: Files): Files {
  return {
    ...files,
    async list(path) {
      const names = await files.list(path);
      if (path !== LOG_DIRECTORY) return names;
      return names.filter((name) => (parseSegmentName(name) ?? 0) <= READ_BACK_MAX);
    },
    async read(path) {
      const bytes = await files.read(path);
      return isSegment(path) && holdsHugeSequence(bytes) ? jumped(path, bytes) : bytes;
    },
  };
}

function holdsHugeSequence(bytes: Uint8Array): boolean {
  const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.length);
  for (let at = 0; at + 8 <= bytes.length; at += 8)
    if (HUGE_SEQUENCES.includes(Number(view.getBigUint64(at, true)))) return true;
  return false;
}

/** The same with a last frame that is so much later. */
function jumped(path: string, bytes: Uint8Array): Uint8Array {
  const { salt } = openSegment(path, 1, viewsOf(bytes), 0);
  const last = findFrames(new Map([[path, bytes]])).at(-1);
  if (salt === null || last === undefined || last.sequence > READ_BACK_MAX) return bytes;
  const frame = Uint8Array.from(bytes.subarray(last.start, last.end));
  createSaltedFrames(salt).stamp(frame, last.sequence + READ_BACK_MAX);
  const changed = bytes.slice();
  changed.set(frame, last.start);
  return changed;
}
