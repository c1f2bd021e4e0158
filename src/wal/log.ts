import type { Result } from "../lib/result.ts";
import type { AppId } from "../model/ids.ts";
import type { ReportBatch } from "../model/report-batch.ts";
import type { UtcDay } from "../model/time/utc-day.ts";
import type { Coverage, TrimmedLog } from "./closed-segments.ts";
import type { LogEntry } from "./entry/entry.ts";

/** Why a batch was not taken in. None of it is in the log, as far as the log can tell. */
export type LogRefusal =
  /** There may be room again later: every append tries. */
  | { readonly kind: "log_full" }
  /** No segment could be opened, for want of file descriptors; nothing was written, and every append tries. */
  | { readonly kind: "log_unopened"; readonly cause: unknown }
  /** The disk can't be trusted any more; only a restart tells what is on it. */
  | { readonly kind: "log_failed"; readonly cause: unknown }
  | { readonly kind: "log_queue_full" }
  /** No majority of the servers of a replicated log answers. It may have the batch all the same, or take it later. */
  | { readonly kind: "log_unreachable"; readonly cause: unknown }
  /** A replicated log takes no entry of this length; each half of the batch may fit. */
  | { readonly kind: "log_entry_too_long" }
  | { readonly kind: "log_closed" };

/** Who is told of every entry, in the order of the log, once it is durable. */
export interface LogFollower {
  /**
   * Takes an entry; one of this process's own comes before its `append` resolves. A log of others waits for what is
   * returned. If that rejects, the log takes no more and gives nothing up: the follower lacks an entry that it has.
   */
  take(entry: LogEntry, isOwn: boolean): Promise<unknown>;
  /** Waits until there is room for what others have reported, or the signal comes. */
  makeRoomFor(batch: ReportBatch, signal: AbortSignal): Promise<void>;
}

/**
 * The write-ahead log, as those who append to it see it: a file log of this process alone, or a stream that several
 * nodes append to.
 */
export interface Wal {
  /**
   * Resolves with the entry's sequence once it is on disk, and the follower was told of it. Entries of a file log reach
   * the disk, and resolve, in the order of the calls.
   */
  append(appId: AppId, batch: ReportBatch): Promise<Result<number, LogRefusal>>;
  /** Says who is told of every entry after those that the start brought; before the first `append`. */
  follow(follower: LogFollower): void;
  /** No entry that the follower was told of has a greater sequence; 0 where there was never one. */
  readonly lastSequence: number;
  /** Of all segments, as far as they are on disk. */
  readonly bytes: number;
  /** Of encoded entries that wait for the disk. */
  readonly queueBytes: number;
  readonly state: "open" | "full" | "failed" | "closed";
  /** Of the reports in the segment that is being written, as far as they are on disk. */
  readonly currentDays: ReadonlySet<UtcDay>;
  /** Whether a start may find reports of the day, be it ones that are covered. */
  mayHold(day: UtcDay): boolean;
  /**
   * What is appended from now on goes to a new segment; what waits already may too. Resolves when the one written
   * so far is closed, at once where it holds nothing. Where closing it fails the `FileError` is thrown, and nothing
   * is lost: all of it is on disk.
   */
  rotate(): Promise<void>;
  /**
   * Removes every segment whose days are all covered at its last sequence, and from others what is covered where that
   * is much of them or expired (`ClosedSegments.trim`). Never the one that is being written, the newest (it says from
   * where sequences go on), or one that could not be read or repaired at the start. Does nothing once the log has
   * failed or is closed. The signal, or closing the log, breaks it off between two entries: the next trim does the
   * rest.
   */
  trim(coverage: Coverage, signal?: AbortSignal): Promise<TrimmedLog>;
  /** Finishes what was appended, then takes no more. */
  close(): Promise<void>;
}

/** A group of entries that has come to the disk. */
export interface LogWrite {
  readonly entries: number;
  readonly bytes: number;
  /** How long the disk took to make it durable. */
  readonly syncMs: number;
}
