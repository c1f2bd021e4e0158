import type { RefusedMessage } from "../../clients/refused-message.ts";
import { fail, ok, type Result } from "../../lib/result.ts";
import { atMost, systemTimers, type Timers } from "../../lib/schedule/timers.ts";
import { type ServiceError, unavailable } from "../../model/errors.ts";
import type { AppId } from "../../model/ids.ts";
import { type Files, ignoreFileError } from "../../runtime/files.ts";
import type { QuarantineEntry } from "../../service/quarantine/entry.ts";
import type { EntryFilter, EntryPage } from "../../service/quarantine/entry-index.ts";
import type { Arrival } from "../../service/quarantine/put-queue.ts";
import type { Quarantine, QuarantineTotals } from "../../service/quarantine/quarantine.ts";
import type { QuarantineStore } from "../../service/quarantine/store.ts";
import { entrySequence, GroupReader, MessageError, QUARANTINE_GROUP } from "../log/group-message.ts";
import type { GroupPublisherOptions } from "../log/group-publisher.ts";
import { type Stream, StreamError, type StreamMessage, type TakenMessage } from "../stream/stream.ts";
import { decodeOperation, type Operation } from "./operation.ts";
import { OperationApplier, type ReceivedOperation } from "./operation-applier.ts";
import { OperationSender, type Outcome } from "./operation-sender.ts";
import { decodePart, type OperationPart, Reassembly } from "./parts.ts";
import { writeStreamPosition } from "./stream-position.ts";
import { StreamShares } from "./stream-shares.ts";

/*
 * The quarantine of a cluster: puts and deletions go through a stream, and every node applies them to its own store in
 * the order of the stream. The node that receives a message checks whether its sender's share has room; once the
 * message is in the stream, every node stores it.
 *
 * A repeated message is not sent again; only its count is, a few times a minute, so that a phone that repeats a bad
 * point all day does not fill the stream.
 */

export interface ReplicatedQuarantineOptions extends Omit<GroupPublisherOptions, "stream" | "kind"> {
  readonly stream: Stream;
  readonly store: QuarantineStore;
  readonly files: Pick<Files, "makeDirectory" | "replace">;
  readonly directory: string;
  readonly fromMessage: number;
  /** The last message that any process of this node is known to have applied. */
  readonly lastTaken: TakenMessage | null;
  /** The maximum size of the stream. */
  readonly streamBytesMax: number;
  /** The last message when the start began: messages up to it may have been applied before. */
  readonly lastAtStart: number;
  /** All messages up to this one are on the disk, and the position is durable. */
  onPosition(message: number): void;
  /** The stream can't be followed any more; the data here is correct but gets no newer. */
  onFailed(error: unknown): void;
}

const CATCH_UP_MS = 10_000;
const SAVE_MS = 2000;
const COUNT_MS = 10_000;

/** An app may use half of the stream, so that it can't fill it for the others; purges are checked this often. */
const SHARE_PARTS = 2;
const ASK_PURGED_MS = 1000;

const OVER_SHARE = unavailable(
  "this app has too many unusable messages that not every node of the cluster has yet: send again later",
  60,
);

/** How long a stopping node waits for pending operations and for the last counts. */
const CLOSE_MS = 500;
const LAST_COUNT_MS = 500;

/** Counts sent in one operation: some 2 MB. */
const ARRIVALS_MAX = 16_384;

export class ReplicatedQuarantine implements Quarantine {
  readonly #options: ReplicatedQuarantineOptions;
  readonly #store: QuarantineStore;
  readonly #timers: Timers;
  readonly #sender: OperationSender;
  readonly #applier: OperationApplier;
  readonly #reassembly = new Reassembly();
  readonly #reader: GroupReader<OperationPart>;
  readonly #stopped = new AbortController();
  readonly #again = new Map<string, Arrival>();
  readonly #shares: StreamShares;
  #askedPurgedMs = Number.NEGATIVE_INFINITY;
  readonly #caughtUp = Promise.withResolvers<void>();
  #following: Promise<void> = Promise.resolve();
  #stopCounting: (() => void) | null = null;
  #stopSaving: (() => void) | null = null;
  #saving: Promise<void> = Promise.resolve();
  /** All messages up to this one are applied. */
  #position: number;
  #saved: number;
  #lastTaken: TakenMessage | null;
  #refused = 0;
  #closed: Promise<void> | null = null;

  constructor(options: ReplicatedQuarantineOptions) {
    const { store, stream, timers = systemTimers } = options;
    this.#options = options;
    this.#store = store;
    this.#shares = new StreamShares(options.streamBytesMax);
    this.#timers = timers;
    this.#sender = new OperationSender(options);
    const onStuck = () => this.#caughtUp.resolve();
    this.#applier = new OperationApplier({ store, timers, signal: this.#stopped.signal, onStuck });
    this.#reader = new GroupReader(stream.name, QUARANTINE_GROUP, decodePart);
    this.#position = options.fromMessage - 1;
    this.#saved = this.#position;
    this.#lastTaken = options.lastTaken;
  }

  /** Starts following the stream. Resolves once it has caught up, or after a while, or if the disk refuses. */
  async begin(): Promise<void> {
    const { stream, fromMessage, lastAtStart, onFailed } = this.#options;
    const take = (message: StreamMessage) => this.#take(message);
    this.#following = stream.follow(fromMessage, take, this.#stopped.signal).catch((error: unknown) => {
      this.#sender.publisher.stop({ kind: "log_failed", cause: error });
      this.#caughtUp.resolve();
      onFailed(error);
    });
    if (fromMessage > lastAtStart) return;
    await atMost(this.#timers, CATCH_UP_MS, this.#caughtUp.promise);
  }

  async put(messages: readonly RefusedMessage[]): Promise<Result<void, ServiceError>> {
    const first = messages[0];
    if (first === undefined) return ok(undefined);
    const refusal = this.#closed === null ? this.#applier.stuck : unavailable("the server is stopping", 5);
    if (refusal !== null) return this.#refuse(refusal);
    if (await this.#isOverShare(first.appId)) return this.#refuse(OVER_SHARE);
    const admitted = await this.#store.admit(messages);
    if (!admitted.ok) return admitted;
    const { fresh, again, release } = admitted.value;
    try {
      for (const entries of this.#sender.split(fresh)) {
        const put = await this.#sender.send(first.appId, { kind: "put", entries });
        if (!put.ok) return this.#refuse(put.error);
      }
    } finally {
      release();
    }
    for (const arrival of again) this.#noteAgain(arrival);
    return ok(undefined);
  }

  apps(): readonly AppId[] {
    return this.#store.apps();
  }

  list(appId: AppId, filter: EntryFilter, offset: number, limit: number): EntryPage {
    return this.#store.list(appId, filter, offset, limit);
  }

  find(appId: AppId, id: string): Promise<QuarantineEntry | null> {
    return this.#store.find(appId, id);
  }

  async delete(appId: AppId, ids: readonly string[]): Promise<Result<number, ServiceError>> {
    if (this.#closed !== null) return fail(unavailable("the server is stopping", 5));
    const known = [...new Set(ids)].filter((id) => this.#store.has(appId, id));
    if (known.length === 0) return ok(0);
    return this.#sender.send(appId, { kind: "delete", appId, ids: known });
  }

  /** Each node sweeps by itself: the rules are the same, so the results are too. */
  sweep(oldestMs: number): Promise<void> {
    return this.#store.sweep(oldestMs);
  }

  get totals(): QuarantineTotals {
    const { totals } = this.#store;
    return { ...totals, refused: totals.refused + this.#refused };
  }

  close(): Promise<void> {
    this.#closed ??= this.#finish();
    return this.#closed;
  }

  async #take({ number, id, bytes }: StreamMessage): Promise<void> {
    const received: ReceivedOperation[] = [];
    const outcomes = new Map<number, Promise<Outcome>>();
    const parts = this.#reader.entries(number, bytes);
    for (const [index, part] of parts.entries()) {
      const whole = this.#reassembly.add(number, part);
      const { promise, resolve } = Promise.withResolvers<Outcome>();
      outcomes.set(entrySequence(number, index), promise);
      if (whole instanceof Uint8Array) {
        const operation = this.#decode(number, whole);
        const appId = appOf(operation);
        if (appId !== null) this.#shares.note(number, appId, whole.length);
        received.push({ operation, report: resolve });
      } else if (whole === "incomplete") resolve(ok(0));
      else resolve(fail(unavailable("the entry did not arrive completely", 5)));
    }
    this.#sender.noteReturned(id, number, outcomes);
    const { lastAtStart } = this.#options;
    const isApplied = await this.#applier.apply(received, number <= lastAtStart);
    if (!isApplied) return; // The next start applies the message.
    this.#lastTaken = { number, id };
    if (number >= lastAtStart) this.#caughtUp.resolve();
    const isNeeded = this.#reassembly.firstMessage ?? number + 1;
    this.#position = Math.max(this.#position, Math.min(number, isNeeded - 1));
    this.#stopSaving ??= this.#timers.after(SAVE_MS, () => {
      this.#stopSaving = null;
      this.#saving = this.#saving.then(() => this.#save());
    });
  }

  async #isOverShare(appId: AppId): Promise<boolean> {
    const { stream, streamBytesMax } = this.#options;
    const isOver = () => this.#shares.bytesOf(appId) > streamBytesMax / SHARE_PARTS;
    if (!isOver() || this.#timers.nowMs() < this.#askedPurgedMs + ASK_PURGED_MS) return isOver();
    this.#askedPurgedMs = this.#timers.nowMs();
    try {
      this.#shares.notePurged((await stream.state()).firstMessage);
    } catch (error) {
      if (!(error instanceof StreamError)) throw error; // Unreachable: the known shares stay.
    }
    return isOver();
  }

  #decode(message: number, bytes: Uint8Array): Operation {
    const operation = decodeOperation(bytes);
    if (operation !== null) return operation;
    throw new MessageError(
      `Message ${message} of the stream "${this.#options.stream.name}" was written by a newer program, or is damaged. ` +
        "Nothing is skipped: this node stops.",
    );
  }

  #noteAgain(arrival: Arrival): void {
    const name = `${arrival.appId} ${arrival.id}`;
    const { count, lastArrivedMs } = this.#again.get(name) ?? { count: 0, lastArrivedMs: 0 };
    this.#again.set(name, {
      ...arrival,
      count: count + arrival.count,
      lastArrivedMs: Math.max(lastArrivedMs, arrival.lastArrivedMs),
    });
    this.#stopCounting ??= this.#timers.after(COUNT_MS, () => {
      this.#stopCounting = null;
      void this.#sendAgain();
    });
  }

  /** Counts that could not be sent are added to the next ones: a count may lag behind, but no message is lost. */
  async #sendAgain(): Promise<void> {
    const all = [...this.#again.values()];
    this.#again.clear();
    for (let start = 0; start < all.length; start += ARRIVALS_MAX) {
      const arrivals = all.slice(start, start + ARRIVALS_MAX);
      const result = await this.#sender.send("", { kind: "again", arrivals });
      if (!result.ok && this.#closed === null) for (const arrival of arrivals) this.#noteAgain(arrival);
    }
  }

  #refuse(error: ServiceError): Result<never, ServiceError> {
    this.#refused++;
    return fail(error);
  }

  /** If the disk refuses, a start replays more of the stream. */
  async #save(): Promise<void> {
    const { files, directory, stream, onPosition } = this.#options;
    const [message, lastTaken] = [this.#position, this.#lastTaken];
    if (message <= this.#saved) return;
    try {
      await writeStreamPosition(files, directory, { created: stream.created, message, lastTaken });
      this.#saved = message;
      onPosition(message);
    } catch (error) {
      ignoreFileError(error);
    }
  }

  async #finish(): Promise<void> {
    this.#stopCounting?.();
    const { publisher } = this.#sender;
    if (this.#applier.stuck === null) {
      await atMost(this.#timers, CLOSE_MS, publisher.idle());
      await atMost(this.#timers, LAST_COUNT_MS, this.#sendAgain());
    }
    publisher.stop({ kind: "log_closed" });
    this.#stopped.abort();
    await this.#following;
    this.#stopSaving?.();
    await this.#saving;
    await this.#save();
    await this.#store.close();
  }
}

/** The operation's app; null if it concerns several. */
function appOf(operation: Operation): AppId | null {
  switch (operation.kind) {
    case "put":
      return operation.entries[0]?.message.appId ?? null;
    case "delete":
      return operation.appId;
    case "again":
      return null;
  }
}
