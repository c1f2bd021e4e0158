import { join } from "node:path";
import type { CreateSalt } from "../lib/frames/head.ts";
import type { PendingErasure } from "../model/erasure.ts";
import type { UtcDay } from "../model/time/utc-day.ts";
import { FileError, type Files, isPassing } from "../runtime/files.ts";
import { type ClosedSegment, type Coverage, mayHoldErased, mayHoldReports, planSegment } from "./coverage.ts";
import {
  type LeavingEntries,
  type RewrittenFile,
  rewriteSegment,
  type SegmentFiles,
} from "./rewrite-segment.ts";
import { misnamedSegments, segmentName } from "./segment.ts";
import { SegmentRemover } from "./segment-remover.ts";
import { type CollectedInstants, collectUserInstants } from "./user-instants.ts";

/** What a trim removed. */
export interface TrimmedLog {
  readonly segments: number;
  readonly bytes: number;
  readonly erasing: LogErasing;
}

/** What a trim did for pending erasures. */
export interface LogErasing {
  /** Whether nothing that they erase is left in the log's files, except perhaps in `unsearched`. */
  readonly isComplete: boolean;
  /** Files written anew, also by earlier trims that failed elsewhere. */
  readonly rewritten: readonly RewrittenFile[];
  /** Files that can't be read, or that may be back after a power failure. */
  readonly unsearched: readonly string[];
  /** What a stream has of it until messages are purged; null for files. */
  readonly held: HeldMessages | null;
}

/** Messages of a stream, which can't be rewritten. */
export interface HeldMessages {
  readonly stream: string;
  /** When they are purged at the latest; null if that is not known. */
  readonly untilMs: number | null;
}

/** All segments of a log except the one that is being written, in log order. */
export class ClosedSegments {
  readonly #source: SegmentFiles;
  readonly #segments: ClosedSegment[];
  readonly #remover: SegmentRemover<ClosedSegment>;
  /** Segments that an earlier process may have emptied, though not for good. */
  readonly #doubtful: Set<number>;
  /** Files that were written anew for erasures since a trim last resolved. */
  #rewritten: RewrittenFile[] = [];
  #bytes: number;

  constructor(files: Files, directory: string, createSalt: CreateSalt, initial: readonly ClosedSegment[]) {
    this.#source = { files, directory, createSalt };
    this.#segments = [...initial];
    this.#remover = new SegmentRemover<ClosedSegment>(files, directory, createSalt);
    this.#doubtful = new Set(initial.filter(hasNothing).map(({ number }) => number));
    this.#bytes = initial.reduce((sum, segment) => sum + segment.bytes, 0);
  }

  get bytes(): number {
    return this.#bytes;
  }

  /** Whether a segment may have reports of the day, or may be back with them after a power failure. */
  mayHold(day: UtcDay): boolean {
    const isSuspect = ({ isRemovable, reports }: ClosedSegment) => !isRemovable || reports.has(day);
    return (
      this.#doubtful.size > 0 || this.#segments.some(isSuspect) || this.#remover.returning.some(isSuspect)
    );
  }

  /** Adds a segment that is newer than all others. */
  add(segment: ClosedSegment): void {
    this.#segments.push(segment);
    this.#bytes += segment.bytes;
  }

  /** Forgets a segment whose file was replaced by another segment with this number. */
  forget(number: number): void {
    this.#doubtful.delete(number);
    this.#put(number, null);
  }

  /**
   * Removes the covered segments, and rewrites others without their covered reports if those are much of the segment or
   * expired. Rewrites each segment that may have what a pending erasure erases, once. With `keepsNewest`, never removes
   * the newest segment. Removals are durable when it resolves. Tries all segments until `signal` aborts, then throws
   * the first `FileError`; the next trim tries again. After a crash, removed segments may be back, empty or, if the
   * disk was full, as they were.
   */
  async trim(coverage: Coverage, keepsNewest: boolean, signal: AbortSignal): Promise<TrimmedLog> {
    const trimmed = { segments: 0, bytes: 0 };
    const newest = keepsNewest ? this.#segments.at(-1) : undefined;
    const unread = new Set<number>();
    let failure: unknown = null;
    const { instants, isWhole } = await this.#instantsFor(coverage, newest, signal);
    for (const segment of [...this.#segments]) {
      if (signal.aborted) break;
      const plan = planSegment(segment, coverage, segment === newest);
      try {
        if (plan.kind === "remove") {
          trimmed.bytes += await this.#remove(segment);
          trimmed.segments++;
        } else if (plan.kind === "rewrite") {
          const { days, clearedSequence } = plan;
          const erasing = clearedBetween(coverage, segment.clearedSequence, clearedSequence);
          const leaving = { ...coverage, days, erasing, instants };
          // A segment that can't be read may tell that records of this one are of an erased user.
          const cleared = isWhole ? clearedSequence : segment.clearedSequence;
          const saved = await this.#rewrite(segment, leaving, cleared, signal);
          if (saved === null && !signal.aborted) unread.add(segment.number);
          trimmed.bytes += saved ?? 0;
        }
      } catch (error) {
        failure ??= error;
      }
    }
    if (trimmed.segments > 0) await this.#remover.sync();
    if (failure !== null) throw failure;
    return { ...trimmed, erasing: await this.#erasing(coverage.erasures, unread) };
  }

  /** The instants of users that this trim erases, from all segments that may have reports of them. */
  async #instantsFor(
    coverage: Coverage,
    newest: ClosedSegment | undefined,
    signal: AbortSignal,
  ): Promise<CollectedInstants> {
    if (coverage.erasures.every(({ userId }) => userId === null)) return NO_USERS;
    const erasing = new Set<PendingErasure>();
    for (const segment of this.#segments) {
      const plan = planSegment(segment, coverage, segment === newest);
      if (plan.kind !== "rewrite") continue;
      for (const each of clearedBetween(coverage, segment.clearedSequence, plan.clearedSequence))
        erasing.add(each);
    }
    const ofUsers = [...erasing].filter(({ userId }) => userId !== null);
    const holding = this.#segments.filter((segment) => ofUsers.some((each) => mayHoldReports(segment, each)));
    const numbers = holding.map(({ number }) => number);
    return collectUserInstants(this.#source, numbers, ofUsers, coverage.erasures, signal);
  }

  async #erasing(erasures: readonly PendingErasure[], unread: ReadonlySet<number>): Promise<LogErasing> {
    const { files, directory } = this.#source;
    const misnamed = erasures.length === 0 ? [] : misnamedSegments(await files.list(directory));
    const mayHold = (segment: ClosedSegment) => erasures.some((erasure) => mayHoldErased(segment, erasure));
    const holding = this.#segments.filter(mayHold);
    const unsearched = holding.filter(({ number }) => unread.has(number));
    const returning = this.#remover.returning.filter(mayHold);
    const rewritten = this.#rewritten;
    this.#rewritten = [];
    return {
      isComplete: holding.length === unsearched.length,
      rewritten,
      unsearched: [
        ...[...unsearched, ...returning].map(({ number }) => segmentName(number)),
        ...misnamed,
      ].map((name) => join(directory, name)),
      held: null,
    };
  }

  async #remove(segment: ClosedSegment): Promise<number> {
    const isEmptied = await this.#remover.remove(segment);
    if (isEmptied) this.#doubtful.delete(segment.number);
    this.#put(segment.number, null);
    return segment.bytes;
  }

  /** How many bytes shorter the segment became; null if it can't be read whole, or the signal aborted. */
  async #rewrite(
    segment: ClosedSegment,
    leaving: LeavingEntries,
    clearedSequence: number,
    signal: AbortSignal,
  ): Promise<number | null> {
    if (!segment.isRemovable) return null;
    const isErasing = leaving.erasing.length > 0;
    try {
      const copy = await rewriteSegment(this.#source, segment, leaving, signal);
      if (copy === null) return null;
      const { file, ...tally } = copy;
      this.#put(segment.number, { ...segment, ...tally, bytes: file.after.bytes, clearedSequence });
      if (isErasing) this.#rewritten.push(file);
      return segment.bytes - file.after.bytes;
    } catch (error) {
      if (isErasing && isUnreadable(error)) return null; // An erasure is not held up for ever by a bad disk.
      throw error;
    }
  }

  #put(number: number, other: ClosedSegment | null): void {
    const index = this.#segments.findIndex((segment) => segment.number === number);
    if (index < 0) return;
    this.#bytes += (other?.bytes ?? 0) - this.#segments[index]!.bytes;
    this.#segments.splice(index, 1, ...(other === null ? [] : [other]));
  }
}

const NO_USERS: CollectedInstants = { instants: new Map(), isWhole: true };

/** The pending erasures after one and up to another. */
function clearedBetween({ erasures }: Coverage, after: number, upTo: number): PendingErasure[] {
  return erasures.filter(({ sequence }) => sequence > after && sequence <= upTo);
}

function hasNothing({ reports, standingSequence }: ClosedSegment): boolean {
  return reports.size === 0 && standingSequence === 0;
}

/** The disk can't read a file, and trying again soon would not help. */
function isUnreadable(error: unknown): boolean {
  return error instanceof FileError && error.operation === "read" && !isPassing(error);
}
