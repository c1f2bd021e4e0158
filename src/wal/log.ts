import type { Result } from "../lib/result.ts";
import type { AppId } from "../model/ids.ts";
import type { ReportBatch } from "../model/report-batch.ts";
import type { StandingEntry } from "../model/standing-entry.ts";
import type { UtcDay } from "../model/time/utc-day.ts";
import type { TrimmedLog } from "./closed-segments.ts";
import type { Coverage } from "./coverage.ts";
import type { LogEntry } from "./entry/entry.ts";

/** Why an entry was refused. None of it is in the log, as far as the log knows, unless stated otherwise. */
export type LogRefusal =
  /** The disk is full. Every append tries again. */
  | { readonly kind: "log_full" }
  /** No segment could be opened for lack of file descriptors. Nothing was written, and every append tries again. */
  | { readonly kind: "log_unopened"; readonly cause: unknown }
  /** The disk can't be trusted any more. Only a restart can find out what it contains. */
  | { readonly kind: "log_failed"; readonly cause: unknown }
  | { readonly kind: "log_queue_full" }
  /** No majority of the servers of a replicated log answers. It may have the batch all the same, or accept it later. */
  | { readonly kind: "log_unreachable"; readonly cause: unknown }
  /** The entry is too long for a replicated log; each half of the batch may fit. */
  | { readonly kind: "log_entry_too_long" }
  | { readonly kind: "log_closed" };

/** Receives every durable entry, in log order. */
export interface LogFollower {
  /**
   * Takes an entry. An entry of this process comes before its `append()` resolves. A replicated log waits for the
   * returned promise. If that rejects, the log accepts and removes nothing more, since the follower lacks an entry.
   */
  take(entry: LogEntry, isOwn: boolean): Promise<unknown>;
  /** Waits until memory has room for a batch of another node, or `signal` aborts. */
  makeRoomFor(batch: ReportBatch, signal: AbortSignal): Promise<void>;
}

/** The write-ahead log: a file log of this process alone, or a stream that several nodes append to. */
export interface Wal {
  /**
   * Resolves with the entry's sequence once the entry is durable and the follower has it. Entries of a file log become
   * durable, and resolve, in the order of the calls.
   */
  append(appId: AppId, batch: ReportBatch): Promise<Result<number, LogRefusal>>;
  /** Like `append()`, for an entry of another kind. */
  appendStanding(entry: StandingEntry): Promise<Result<number, LogRefusal>>;
  /** Sets the receiver of all entries after the replay. Call before the first `append()`. */
  follow(follower: LogFollower): void;
  /** No entry that the follower got has a greater sequence; 0 if there was none. */
  readonly lastSequence: number;
  /** The longest encoded entry that is accepted. */
  readonly entryBytesMax: number;
  /** Bytes of all segments on disk. */
  readonly bytes: number;
  /** Bytes of encoded entries that wait for the disk. */
  readonly queueBytes: number;
  readonly state: "open" | "full" | "failed" | "closed";
  /** The days of the reports on disk in the segment that is being written. */
  readonly currentDays: ReadonlySet<UtcDay>;
  /** Whether a start may find reports of the day in the log, archived or not. */
  mayHold(day: UtcDay): boolean;
  /**
   * Makes later appends go to a new segment; entries that wait already may go there too. Resolves when the current
   * segment is closed, immediately if there is none. If closing fails, throws the `FileError`; nothing is lost, as all
   * is on disk.
   */
  rotate(): Promise<void>;
  /**
   * Removes every segment whose entries are all covered, and rewrites others as
   * `ClosedSegments.trim()` describes. Never touches the segment that is being written, the newest (its number tells
   * where sequences continue), or one that could not be read or repaired at the start. So a caller with pending
   * erasures calls `rotate()` first; what they erase from a stream goes when that is purged. Does nothing once the log
   * has failed or is closed. Aborting `signal`, or closing the log, stops it between two entries; the next trim
   * continues.
   */
  trim(coverage: Coverage, signal?: AbortSignal): Promise<TrimmedLog>;
  /** Finishes all pending appends, and refuses new ones. */
  close(): Promise<void>;
}

/** A group of entries that was written. */
export interface LogWrite {
  readonly entries: number;
  readonly bytes: number;
  /** How long the sync took. */
  readonly syncMs: number;
}
