import { fail, type Result } from "../../lib/result.ts";
import { atMost, systemTimers, untilAborted } from "../../lib/schedule/timers.ts";
import type { AppId } from "../../model/ids.ts";
import type { ReportBatch } from "../../model/report-batch.ts";
import type { StandingEntry } from "../../model/standing-entry.ts";
import type { UtcDay } from "../../model/time/utc-day.ts";
import { EntryCounter } from "../../wal/batch-parts.ts";
import type { TrimmedLog } from "../../wal/closed-segments.ts";
import type { Coverage } from "../../wal/coverage.ts";
import { createEntryEncoder, EntryError, type LogEntry, type NewEntry } from "../../wal/entry/entry.ts";
import type { LogFollower, LogRefusal, Wal } from "../../wal/log.ts";
import type { Stream, StreamMessage, TakenMessage } from "../stream/stream.ts";
import { BlockLedger } from "./block-ledger.ts";
import { ENTRY_LENGTH_BYTES, entrySequence, MessageError, MessageReader } from "./group-message.ts";
import { GroupPublisher, type GroupPublisherOptions } from "./group-publisher.ts";

/*
 * The log of a cluster: a stream that every node publishes to and follows. An entry is applied when it has come back,
 * so all nodes apply the same entries in the same order.
 */

export interface StreamLogOptions extends Omit<GroupPublisherOptions, "stream"> {
  readonly stream: Stream;
  /** The first message that this node needs: its archive covers all earlier ones. */
  readonly fromMessage: number;
  /** The last message that any process of this node is known to have applied; the archive has no later one. */
  readonly lastTaken: TakenMessage | null;
  /** Stores the first message that a restart needs, and the last one applied. Called after each trim. */
  onFloor(message: number, lastTaken: TakenMessage | null): Promise<void>;
  /**
   * When all messages so far are purged at the latest, if this is the last day of which this node needs any, null for
   * none. Null, as by default, if that is not known.
   */
  heldUntilMs?(lastDay: UtcDay | null): number | null;
  /** The stream can't be followed any more; the data here is correct but gets no newer. */
  onFailed(error: unknown): void;
}

/** A standing entry weighs like this many reports, to limit the entries of a message. */
const STANDING_WORK = 8;
/** How long to wait for pending entries on close; unreachable servers would take longer. */
const CLOSE_MS = 500;

/** This node has no files of the log from which something could be erased. */
const NOTHING_TRIMMED: TrimmedLog = {
  segments: 0,
  bytes: 0,
  erasing: { isComplete: true, rewritten: [], unsearched: [], held: null },
};

/** Applies the entries of a message during the start. Resolves with those that the follower is to take. */
export type ReplayEntries = (
  entries: readonly LogEntry[],
  message: number,
  bytes: number,
) => Promise<readonly LogEntry[]>;

export class StreamLog implements Wal {
  readonly #options: StreamLogOptions;
  readonly #encoder = createEntryEncoder();
  readonly #publisher: GroupPublisher;
  readonly #ledger = new BlockLedger();
  readonly #stopped = new AbortController();
  readonly #reader: MessageReader;
  readonly #followed = Promise.withResolvers<void>();
  #follower: LogFollower | null = null;
  #following: Promise<void> = Promise.resolve();
  #replay: ReplayEntries | null;
  #nextMessage: number;
  #lastSequence: number;
  #lastTaken: TakenMessage | null;
  #failure: unknown = null;
  #closed: Promise<void> | null = null;

  /** `replay` receives all messages until `endReplay`. */
  constructor(options: StreamLogOptions, replay: ReplayEntries) {
    this.#options = options;
    this.#publisher = new GroupPublisher(options);
    this.#reader = new MessageReader(options.stream.name);
    this.#nextMessage = options.fromMessage;
    this.#lastSequence = entrySequence(options.fromMessage, 0) - 1;
    this.#lastTaken = options.lastTaken;
    this.#replay = replay;
  }

  /** Starts following the stream. */
  begin(): void {
    const { stream, onFailed } = this.#options;
    const take = (message: StreamMessage) => this.#take(message);
    this.#following = stream.follow(this.#nextMessage, take, this.#stopped.signal).catch((error: unknown) => {
      this.#failure = error;
      this.#publisher.stop({ kind: "log_failed", cause: error });
      onFailed(error);
    });
  }

  /** The start is over: later messages wait until `follow` is called. */
  endReplay(): void {
    this.#replay = null;
  }

  follow(follower: LogFollower): void {
    this.#follower = follower;
    this.#followed.resolve();
  }

  append(appId: AppId, batch: ReportBatch): Promise<Result<number, LogRefusal>> {
    return this.#append({ kind: "reports", appId, batch }, batch.count + batch.texts.length);
  }

  appendStanding(entry: StandingEntry): Promise<Result<number, LogRefusal>> {
    return this.#append(entry, STANDING_WORK);
  }

  async #append(entry: NewEntry, work: number): Promise<Result<number, LogRefusal>> {
    if (this.#closed !== null) return fail({ kind: "log_closed" });
    if (this.#failure !== null) return fail({ kind: "log_failed", cause: this.#failure });
    const frame = this.#encoder.encodeEntry(entry, ENTRY_LENGTH_BYTES);
    if (frame.length > this.#publisher.frameBytesMax) return fail({ kind: "log_entry_too_long" });
    return this.#publisher.add(frame, work);
  }

  get lastSequence(): number {
    return this.#lastSequence;
  }

  get entryBytesMax(): number {
    return this.#publisher.frameBytesMax - ENTRY_LENGTH_BYTES;
  }

  /** The last applied message. */
  get lastMessage(): number {
    return this.#nextMessage - 1;
  }

  /** The size of the messages that a restart would read. */
  get bytes(): number {
    return this.#ledger.bytes;
  }

  get queueBytes(): number {
    return this.#publisher.bytes;
  }

  get state(): Wal["state"] {
    if (this.#closed !== null) return "closed";
    if (this.#failure !== null) return "failed";
    return this.#publisher.isFull ? "full" : "open";
  }

  get currentDays(): ReadonlySet<UtcDay> {
    return this.#ledger.currentDays;
  }

  mayHold(day: UtcDay): boolean {
    return this.#ledger.mayHold(day);
  }

  async rotate(): Promise<void> {
    this.#ledger.endBlock();
  }

  async trim(coverage: Coverage): Promise<TrimmedLog> {
    if (this.#closed !== null) return NOTHING_TRIMMED;
    const { stream, heldUntilMs = () => null, onFloor } = this.#options;
    this.#ledger.trim(coverage);
    await onFloor(this.#ledger.floor(this.#nextMessage), this.#lastTaken);
    // The stream is purged later, once no node needs the messages.
    const messages = { stream: stream.name, untilMs: heldUntilMs(this.#ledger.lastDay) };
    return { ...NOTHING_TRIMMED, erasing: { ...NOTHING_TRIMMED.erasing, held: messages } };
  }

  close(): Promise<void> {
    this.#closed ??= this.#finish();
    return this.#closed;
  }

  async #take({ number, id, bytes }: StreamMessage): Promise<void> {
    const entries = this.#reader.entries(number, bytes);
    if (this.#replay === null && this.#follower === null) await this.#followed.promise;
    for (const entry of entries)
      if (entry.kind === "reports") await this.#follower?.makeRoomFor(entry.batch, this.#stopped.signal);
    if (this.#stopped.signal.aborted) return;
    this.#lastTaken = { number, id };
    this.#note(entries, number, bytes.length);
    try {
      const left = this.#replay === null ? entries : await this.#replay(entries, number, bytes.length);
      const replayed = entries.length - left.length;
      if (replayed > 0) this.#lastSequence = entries[replayed - 1]!.sequence;
      if (left.length > 0) await this.#handOver(left, number, id);
    } catch (error) {
      if (error instanceof EntryError) throw unusable(number, this.#options.stream.name, error);
      throw error;
    }
    if (!this.#stopped.signal.aborted) this.#nextMessage = number + 1;
  }

  async #handOver(entries: readonly LogEntry[], number: number, id: string): Promise<void> {
    if (this.#follower === null) await this.#followed.promise;
    if (this.#stopped.signal.aborted) return;
    // Set before the entries are applied: a seal must not see entries that a restart would not.
    this.#lastSequence = entries.at(-1)!.sequence;
    const isOwn = this.#publisher.awaits(id);
    const applied = entries.map((entry) => this.#follower!.take(entry, isOwn));
    this.#publisher.noteReturned(id, number);
    await untilAborted(Promise.all(applied), this.#stopped.signal); // An entry may wait for a seal that never comes.
  }

  #note(entries: readonly LogEntry[], message: number, bytes: number): void {
    const tally = new EntryCounter();
    for (const entry of entries) tally.add(entry);
    this.#ledger.note(message, entries.at(-1)!.sequence, tally, bytes);
  }

  async #finish(): Promise<void> {
    await atMost(this.#options.timers ?? systemTimers, CLOSE_MS, this.#publisher.idle());
    this.#publisher.stop({ kind: "log_closed" });
    this.#stopped.abort();
    this.#followed.resolve(); // Releases a message that waits for a follower.
    await this.#following;
  }
}

function unusable(message: number, stream: string, cause: EntryError): MessageError {
  return new MessageError(
    `Message ${message} of the stream "${stream}" can't be used. ${cause.message}. Nothing is skipped: this node stops.`,
    { cause },
  );
}
