import { join } from "node:path";
import { FileError, type Files } from "../runtime/files.ts";
import type { UtcDay } from "../time/utc-day.ts";
import { segmentName } from "./segment-name.ts";

/** A segment that is not written any more. */
export interface ClosedSegment {
  readonly number: number;
  readonly bytes: number;
  /** Of the reports in its good frames. */
  readonly days: ReadonlySet<UtcDay>;
  /** None of its entries has a greater one. */
  readonly lastSequence: number;
  /** False where its contents are not fully known, or not known to be kept elsewhere: it then stays. */
  readonly isRemovable: boolean;
}

/** Whether all reports of the day in entries up to this sequence are kept elsewhere, or wanted no more. */
export type IsCovered = (day: UtcDay, lastSequence: number) => boolean;

/** What left the log. */
export interface TrimmedLog {
  readonly segments: number;
  readonly bytes: number;
}

/** The segments of a log but the one that is being written, in log order. */
export interface ClosedSegments {
  readonly bytes: number;
  /** Whether any may hold reports of the day, or be back with them after a power failure. */
  mayHold(day: UtcDay): boolean;
  /** Adds a segment newer than all others. */
  add(segment: ClosedSegment): void;
  /** Another segment of this number was put in the place of what may be here. */
  forget(number: number): void;
  /**
   * Removes the covered segments, at once from the disk's directory, for good when it resolves. The newest stays
   * where `keepsNewest`. Tries all of them, then throws the first `FileError`; what is still there is tried again
   * the next time. After a crash some may be back: nothing in them is new.
   */
  remove(isCovered: IsCovered, keepsNewest: boolean): Promise<TrimmedLog>;
}

export function createClosedSegments(
  files: Files,
  directory: string,
  found: readonly ClosedSegment[],
): ClosedSegments {
  const segments = [...found];
  /** Removed, and their directory not synced since. */
  let unsynced: ClosedSegment[] = [];
  let bytes = segments.reduce((sum, segment) => sum + segment.bytes, 0);

  function forget(number: number): void {
    const index = segments.findIndex((segment) => segment.number === number);
    if (index < 0) return;
    bytes -= segments[index]!.bytes;
    segments.splice(index, 1);
  }

  return {
    get bytes() {
      return bytes;
    },
    mayHold(day) {
      const isSuspect = ({ isRemovable, days }: ClosedSegment) => !isRemovable || days.has(day);
      return segments.some(isSuspect) || unsynced.some(isSuspect);
    },
    add(segment) {
      segments.push(segment);
      bytes += segment.bytes;
    },
    forget,
    async remove(isCovered, keepsNewest) {
      const removed = { segments: 0, bytes: 0 };
      let failure: unknown = null;
      for (const segment of planRemoval(segments, isCovered, keepsNewest)) {
        try {
          await removeFile(files, join(directory, segmentName(segment.number)));
          forget(segment.number);
          unsynced.push(segment);
          removed.segments++;
          removed.bytes += segment.bytes;
        } catch (error) {
          failure ??= error;
        }
      }
      if (unsynced.length > 0) await files.syncDirectory(directory);
      unsynced = [];
      if (failure !== null) throw failure;
      return removed;
    },
  };
}

function planRemoval(
  segments: readonly ClosedSegment[],
  isCovered: IsCovered,
  keepsNewest: boolean,
): ClosedSegment[] {
  const candidates = keepsNewest ? segments.slice(0, -1) : segments;
  return candidates.filter(
    ({ isRemovable, days, lastSequence }) =>
      isRemovable && [...days].every((day) => isCovered(day, lastSequence)),
  );
}

/** Fine where the file is gone already. */
async function removeFile(files: Files, path: string): Promise<void> {
  try {
    await files.remove(path);
  } catch (error) {
    if (!(error instanceof FileError && error.code === "ENOENT")) throw error;
  }
}
