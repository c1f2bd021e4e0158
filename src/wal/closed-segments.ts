import { join } from "node:path";
import type { CreateSalt } from "../lib/frames/head.ts";
import type { UtcDay } from "../model/time/utc-day.ts";
import { FileError, type Files } from "../runtime/files.ts";
import type { EntryTally } from "./batch-parts.ts";
import { type CoveredEntries, rewriteSegment } from "./rewrite-segment.ts";
import { segmentName } from "./segment.ts";

/** A segment that is no longer written to. */
export interface ClosedSegment extends EntryTally {
  readonly number: number;
  readonly bytes: number;
  /** No entry has a greater sequence. */
  readonly lastSequence: number;
  /** False if its contents are not fully known, or are not known to be archived. The segment then stays. */
  readonly isRemovable: boolean;
}

/** Which entries the log may drop. */
export interface Coverage {
  /** Whether all reports of the day in entries up to this sequence are archived, or expired. */
  isCovered(day: UtcDay, lastSequence: number): boolean;
  /** Whether the day's reports, once covered, must be removed, whatever that costs. */
  isExpired(day: UtcDay): boolean;
  /** The archive has every standing entry up to this one that still stands. */
  readonly standingSequence: number;
}

/** What a trim removed. */
export interface TrimmedLog {
  readonly segments: number;
  readonly bytes: number;
}

/** All segments of a log except the one that is being written, in log order. */
export interface ClosedSegments {
  readonly bytes: number;
  /** Whether a segment may have reports of the day, or may be back with them after a power failure. */
  mayHold(day: UtcDay): boolean;
  /** Adds a segment that is newer than all others. */
  add(segment: ClosedSegment): void;
  /** Forgets a segment whose file was replaced by another segment with this number. */
  forget(number: number): void;
  /**
   * Removes the covered segments, and rewrites others without their covered reports if those are much of the segment or
   * expired. With `keepsNewest`, never removes the newest segment. Removals are durable when it resolves. Tries all
   * segments until `signal` aborts, then throws the first `FileError`; the next trim tries again. After a crash,
   * removed segments may be back, without anything new in them.
   */
  trim(coverage: Coverage, keepsNewest: boolean, signal: AbortSignal): Promise<TrimmedLog>;
}

export function createClosedSegments(
  files: Files,
  directory: string,
  createSalt: CreateSalt,
  initial: readonly ClosedSegment[],
): ClosedSegments {
  const segments = [...initial];
  /** Removed segments whose removal is not synced yet. */
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
    covered: CoveredEntries,
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
          if (segment !== newest && isAllCovered(segment, covered, coverage)) {
            trimmed.bytes += await remove(segment);
            trimmed.segments++;
          } else if (isWorthRewriting(segment, covered, coverage, segment === newest)) {
            const { standingSequence } = coverage;
            trimmed.bytes += await rewrite(segment, { days: covered, standingSequence }, signal);
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

/** The covered days of a segment; none if its contents are not fully known. */
function coveredDays(segment: ClosedSegment, { isCovered }: Coverage): ReadonlySet<UtcDay> {
  const { isRemovable, reports, lastSequence } = segment;
  return new Set(isRemovable ? [...reports.keys()].filter((day) => isCovered(day, lastSequence)) : []);
}

function isAllCovered(
  { isRemovable, reports, standingSequence }: ClosedSegment,
  covered: ReadonlySet<UtcDay>,
  coverage: Coverage,
): boolean {
  return isRemovable && covered.size === reports.size && standingSequence <= coverage.standingSequence;
}

/**
 * Rewriting a segment costs as much as what stays in it, so at most half may stay, unless something is expired. The
 * newest segment is soon removed as a whole.
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

/** Removes a file that may be gone already. */
async function removeFile(files: Files, path: string): Promise<void> {
  try {
    await files.remove(path);
  } catch (error) {
    if (!(error instanceof FileError && error.code === "ENOENT")) throw error;
  }
}
