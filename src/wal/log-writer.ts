import { FRAME_HEADER_BYTES } from "../lib/frames/frame.ts";
import { fail, ok, type Result } from "../lib/result.ts";
import type { AppId } from "../model/ids.ts";
import type { ReportBatch } from "../model/report-batch.ts";
import type { StandingEntry } from "../model/standing-entry.ts";
import type { UtcDay } from "../model/time/utc-day.ts";
import { isDiskFull, isOutOfDescriptors } from "../runtime/files.ts";
import { addBatchDays, isErasureEntry, refusedBytesOf } from "./batch-parts.ts";
import type { TrimmedLog } from "./closed-segments.ts";
import type { Coverage } from "./coverage.ts";
import { createEntryEncoder, type NewEntry } from "./entry/entry.ts";
import type { LogFollower, LogRefusal, LogWrite, Wal } from "./log.ts";
import { SegmentWriter, type SegmentWriterOptions, type WriteGroup } from "./segment-writer.ts";

// Appends entries in groups: all waiting entries are written together and share one sync. Each run of the process
// begins a new segment, so that no bytes of unknown state precede a new frame.

export interface LogWriterOptions extends SegmentWriterOptions {
  /** The most bytes of encoded entries that are not on disk yet. A larger entry is accepted if nothing else waits. */
  readonly queueBytesMax: number;
  /** The sequence of the next entry, and the number of the next segment. */
  readonly nextSequence: number;
  /** Why nothing may be appended; null if the log is in order. */
  readonly failure: unknown;
  onWritten?(write: LogWrite): void;
  /** Called once, with the reason, if the follower fails to take an entry. */
  onBroken?(error: unknown): void;
}

const NOTHING_TRIMMED: TrimmedLog = {
  segments: 0,
  bytes: 0,
  erasing: { isComplete: false, rewritten: [], unsearched: [], held: null },
};

export class LogWriter implements Wal {
  readonly #options: LogWriterOptions;
  readonly #encoder = createEntryEncoder();
  readonly #queue: WriteQueue;
  readonly #segments: SegmentWriter;
  #nextSequence: number;
  #failure: unknown;
  #follower: LogFollower | null = null;
  #isFull = false;
  #rotation: PromiseWithResolvers<void> | null = null;
  #writing: Promise<void> = Promise.resolve();
  #isWriting = false;
  #trimming: Promise<unknown> = Promise.resolve();
  readonly #closing = new AbortController();
  #closed: Promise<void> | null = null;

  constructor(options: LogWriterOptions) {
    this.#options = options;
    this.#queue = new WriteQueue(options.queueBytesMax);
    this.#segments = new SegmentWriter(options);
    this.#nextSequence = options.nextSequence;
    this.#failure = options.failure;
  }

  append(appId: AppId, batch: ReportBatch): Promise<Result<number, LogRefusal>> {
    return this.#append({ kind: "reports", appId, batch });
  }

  appendStanding(entry: StandingEntry): Promise<Result<number, LogRefusal>> {
    return this.#append(entry);
  }

  async #append(entry: NewEntry): Promise<Result<number, LogRefusal>> {
    if (this.#closed !== null) return fail({ kind: "log_closed" });
    if (this.#failure !== null) return fail({ kind: "log_failed", cause: this.#failure });
    const frame = this.#encoder.encodeEntry(entry, FRAME_HEADER_BYTES);
    if (!this.#queue.hasRoom(frame.length)) return fail({ kind: "log_queue_full" });
    const outcome = this.#queue.add(frame, entry);
    this.#startWriting();
    return outcome;
  }

  follow(follower: LogFollower): void {
    this.#follower = follower;
  }

  get lastSequence(): number {
    return this.#nextSequence - 1;
  }

  get entryBytesMax(): number {
    return Number.POSITIVE_INFINITY;
  }

  get bytes(): number {
    return this.#options.earlier.bytes + (this.#segments.segment?.bytes ?? 0);
  }

  get queueBytes(): number {
    return this.#queue.bytes;
  }

  get currentDays(): ReadonlySet<UtcDay> {
    return new Set(this.#segments.segment?.tally.reports.keys());
  }

  get state(): Wal["state"] {
    if (this.#closed !== null) return "closed";
    if (this.#failure !== null) return "failed";
    return this.#isFull ? "full" : "open";
  }

  mayHold(day: UtcDay): boolean {
    return this.#segments.segment?.tally.reports.has(day) === true || this.#options.earlier.mayHold(day);
  }

  async rotate(): Promise<void> {
    if (this.#closed !== null) return;
    this.#rotation ??= Promise.withResolvers();
    const { promise } = this.#rotation;
    this.#startWriting();
    await promise;
  }

  trim(coverage: Coverage, signal?: AbortSignal): Promise<TrimmedLog> {
    const { signal: closing } = this.#closing;
    const either = signal === undefined ? closing : AbortSignal.any([signal, closing]);
    const trimmed = this.#trimming.then(() => this.#trim(coverage, either)); // One at a time: a file is removed once.
    this.#trimming = trimmed.catch(() => undefined);
    return trimmed;
  }

  close(): Promise<void> {
    this.#closing.abort();
    this.#closed ??= this.#finish();
    return this.#closed;
  }

  #startWriting(): void {
    if (!this.#isWriting) this.#writing = this.#writeAll();
  }

  async #writeAll(): Promise<void> {
    this.#isWriting = true;
    while (this.#rotation !== null || !this.#queue.isEmpty) {
      if (this.#rotation !== null) await this.#endSegment(this.#rotation);
      if (this.#queue.isEmpty) continue;
      const group = this.#queue.take();
      const refusal = await this.#writeGroup(group);
      this.#queue.release(group);
      if (refusal !== null) for (const entry of group.entries) entry.resolve(fail(refusal));
    }
    this.#isWriting = false;
  }

  /** Runs between two groups, so that no group is split. */
  async #endSegment({ resolve, reject }: PromiseWithResolvers<void>): Promise<void> {
    this.#rotation = null;
    try {
      await this.#segments.leave(this.lastSequence);
      resolve();
    } catch (error) {
      reject(error);
    }
  }

  async #writeGroup(group: WriteGroup<WaitingEntry>): Promise<LogRefusal | null> {
    if (this.#failure !== null) return { kind: "log_failed", cause: this.#failure };
    const { entries, bytes } = group;
    const firstSequence = this.#nextSequence;
    let syncMs: number;
    try {
      ({ syncMs } = await this.#segments.write(group, firstSequence));
    } catch (error) {
      return this.#refuse(await this.#cutBackAfter(error));
    }
    this.#options.onWritten?.({ entries: entries.length, bytes, syncMs });
    this.#isFull = false;
    this.#nextSequence += entries.length;
    entries.forEach(({ entry, resolve }, index) => {
      const sequence = firstSequence + index;
      this.#follower?.take({ ...entry, sequence }, true).catch((error) => this.#break(error));
      resolve(ok(sequence));
    });
    return null;
  }

  /** The follower lacks an entry that the log has, so from now on the log accepts nothing and removes nothing. */
  #break(error: unknown): void {
    if (this.#failure !== null) return;
    this.#failure = error;
    this.#options.onBroken?.(error);
  }

  /** The error that remains: a full disk, if the log could be restored to what it was, or else a final failure. */
  async #cutBackAfter(error: unknown): Promise<unknown> {
    if (this.#segments.segment === null || !isDiskFull(error)) return error;
    try {
      await this.#segments.cutBack(this.lastSequence);
      return error;
    } catch (cutError) {
      return new Error("Cannot remove the partial write that a full disk left", { cause: cutError });
    }
  }

  #refuse(error: unknown): LogRefusal {
    this.#isFull = isDiskFull(error);
    if (this.#isFull) return { kind: "log_full" };
    if (this.#segments.segment === null && isOutOfDescriptors(error))
      return { kind: "log_unopened", cause: error };
    this.#failure = error;
    return { kind: "log_failed", cause: error };
  }

  async #trim(coverage: Coverage, signal: AbortSignal): Promise<TrimmedLog> {
    if (this.#closed !== null || this.#failure !== null) return NOTHING_TRIMMED;
    const { segment } = this.#segments;
    const trimmed = await this.#options.earlier.trim(coverage, segment === null, signal);
    const isBehind = coverage.erasures.every(
      ({ sequence }) => segment === null || sequence <= segment.number,
    );
    const { erasing } = trimmed;
    return { ...trimmed, erasing: { ...erasing, isComplete: isBehind && erasing.isComplete } };
  }

  async #finish(): Promise<void> {
    await Promise.all([this.#writing, this.#trimming]);
    await this.#segments.leave(this.lastSequence);
  }
}

/** An entry that waits for the disk. */
interface WaitingEntry {
  readonly frame: Uint8Array<ArrayBuffer>;
  readonly entry: NewEntry;
  resolve(outcome: Result<number, LogRefusal>): void;
}

/** Encoded entries on their way to the disk, limited by their bytes. All waiting entries make the next group. */
class WriteQueue {
  /** Bytes of the entries that wait or are being written. */
  bytes = 0;
  readonly #bytesMax: number;
  #entries: WaitingEntry[] = [];
  #reports = new Map<UtcDay, number>();
  #lastStanding = -1;
  #lastErasure = -1;
  #refusedBytes = 0;
  #groupBytes = 0;

  constructor(bytesMax: number) {
    this.#bytesMax = bytesMax;
  }

  get isEmpty(): boolean {
    return this.#entries.length === 0;
  }

  /** Whether an entry's frame fits. An entry larger than the whole queue is accepted if the queue is empty. */
  hasRoom(frameBytes: number): boolean {
    return this.bytes === 0 || this.bytes + frameBytes <= this.#bytesMax;
  }

  /** Resolves when the writer resolves the entry. */
  add(frame: Uint8Array<ArrayBuffer>, entry: NewEntry): Promise<Result<number, LogRefusal>> {
    this.bytes += frame.length;
    const outcome = new Promise<Result<number, LogRefusal>>((resolve) => {
      this.#entries.push({ frame, entry, resolve });
    });
    this.#groupBytes += frame.length;
    if (entry.kind === "reports") addBatchDays(entry.batch, this.#reports);
    else this.#lastStanding = this.#entries.length - 1;
    if (isErasureEntry(entry)) this.#lastErasure = this.#entries.length - 1;
    this.#refusedBytes += refusedBytesOf(entry);
    return outcome;
  }

  /** Removes and returns the waiting entries. */
  take(): WriteGroup<WaitingEntry> {
    const group = {
      entries: this.#entries,
      reports: this.#reports,
      lastStanding: this.#lastStanding,
      lastErasure: this.#lastErasure,
      refusedBytes: this.#refusedBytes,
      bytes: this.#groupBytes,
    };
    this.#entries = [];
    this.#reports = new Map();
    this.#lastStanding = -1;
    this.#lastErasure = -1;
    this.#refusedBytes = 0;
    this.#groupBytes = 0;
    return group;
  }

  /** Frees the bytes of a group that is on disk, or refused. */
  release({ bytes }: WriteGroup<WaitingEntry>): void {
    this.bytes -= bytes;
  }
}
