import { join } from "node:path";
import type { CreateSalt } from "../lib/frames/head.ts";
import type { UtcDay } from "../model/time/utc-day.ts";
import { FileError, type Files } from "../runtime/files.ts";
import type { ReportsByDay } from "./batch-parts.ts";
import { rewriteSegment } from "./rewrite-segment.ts";
import { segmentName } from "./segment.ts";

/** A segment that is not written any more. */
export interface ClosedSegment {
  readonly number: number;
  readonly bytes: number;
  /** In its good frames. */
  readonly reports: ReportsByDay;
  /** None of its entries has a greater one. */
  readonly lastSequence: number;
  /** False where its contents are not fully known, or not known to be kept elsewhere: it then stays. */
  readonly isRemovable: boolean;
}

/** What the log may give up. */
export interface Coverage {
  /** Whether all reports of the day in entries up to this sequence are kept elsewhere, or wanted no more. */
  isCovered(day: UtcDay, lastSequence: number): boolean;
  /** Whether the day's reports, once covered, must go, whatever that costs. */
  isExpired(day: UtcDay): boolean;
}

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
   * Removes the covered segments, and from others what is covered where that is much of them or expired. The newest is
   * never removed where `keepsNewest`. For good when it resolves. Tries all of them until the signal comes, then throws
   * the first `FileError`; what is still there is tried again the next time. After a crash some may be back: nothing in
   * them is new.
   */
  trim(coverage: Coverage, keepsNewest: boolean, signal: AbortSignal): Promise<TrimmedLog>;
}

export function createClosedSegments(
  files: Files,
  directory: string,
  createSalt: CreateSalt,
  found: readonly ClosedSegment[],
): ClosedSegments {
  const segments = [...found];
  /** Removed, and their directory not synced since. */
  let unsynced: ClosedSegment[] = [];
  let bytes = segments.reduce((sum, segment) => sum + segment.bytes, 0);

  function put(number: number, other: ClosedSegment | null): void {
    const index = segments.findIndex((segment) => segment.number === number);
    if (index < 0) return;
    bytes += (other?.bytes ?? 0) - segments[index]!.bytes;
    segments.splice(index, 1, ...(other === null ? [] : [other]));
  }

  async function remove(segment: ClosedSegment): Promise<number> {
    await removeFile(files, join(directory, segmentName(segment.number)));
    put(segment.number, null);
    unsynced.push(segment);
    return segment.bytes;
  }

  async function rewrite(
    segment: ClosedSegment,
    covered: ReadonlySet<UtcDay>,
    signal: AbortSignal,
  ): Promise<number> {
    const { number, lastSequence } = segment;
    const rewritten = await rewriteSegment(
      files,
      directory,
      number,
      covered,
      lastSequence,
      createSalt,
      signal,
    );
    if (rewritten === null) return 0;
    put(number, { ...segment, ...rewritten });
    return segment.bytes - rewritten.bytes;
  }

  return {
    get bytes() {
      return bytes;
    },
    mayHold(day) {
      const isSuspect = ({ isRemovable, reports }: ClosedSegment) => !isRemovable || reports.has(day);
      return segments.some(isSuspect) || unsynced.some(isSuspect);
    },
    add(segment) {
      segments.push(segment);
      bytes += segment.bytes;
    },
    forget: (number) => put(number, null),
    async trim(coverage, keepsNewest, signal) {
      const trimmed = { segments: 0, bytes: 0 };
      const newest = keepsNewest ? segments.at(-1) : undefined;
      let failure: unknown = null;
      for (const segment of [...segments]) {
        if (signal.aborted) break;
        const covered = coveredDays(segment, coverage);
        try {
          if (segment !== newest && isAllCovered(segment, covered)) {
            trimmed.bytes += await remove(segment);
            trimmed.segments++;
          } else if (isWorthRewriting(segment, covered, coverage, segment === newest)) {
            trimmed.bytes += await rewrite(segment, covered, signal);
          }
        } catch (error) {
          failure ??= error;
        }
      }
      if (unsynced.length > 0) await files.syncDirectory(directory);
      unsynced = [];
      if (failure !== null) throw failure;
      return trimmed;
    },
  };
}

/** Of a segment that is fully known; of another none. */
function coveredDays(segment: ClosedSegment, { isCovered }: Coverage): ReadonlySet<UtcDay> {
  const { isRemovable, reports, lastSequence } = segment;
  return new Set(isRemovable ? [...reports.keys()].filter((day) => isCovered(day, lastSequence)) : []);
}

function isAllCovered({ isRemovable, reports }: ClosedSegment, covered: ReadonlySet<UtcDay>): boolean {
  return isRemovable && covered.size === reports.size;
}

/**
 * To write a segment anew costs as much as what stays: half of it at most, unless something has to go. The newest
 * leaves as a whole soon.
 */
function isWorthRewriting(
  { reports }: ClosedSegment,
  covered: ReadonlySet<UtcDay>,
  { isExpired }: Coverage,
  isNewest: boolean,
): boolean {
  let all = 0;
  let leaving = 0;
  for (const [day, count] of reports) {
    all += count;
    if (covered.has(day)) leaving += count;
  }
  return [...covered].some(isExpired) || (!isNewest && leaving > 0 && leaving * 2 >= all);
}

/** Fine where the file is gone already. */
async function removeFile(files: Files, path: string): Promise<void> {
  try {
    await files.remove(path);
  } catch (error) {
    if (!(error instanceof FileError && error.code === "ENOENT")) throw error;
  }
}
