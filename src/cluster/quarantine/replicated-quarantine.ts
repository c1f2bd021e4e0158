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
import { Applying, type Received } from "./applying.ts";
import { decodeOperation, type Operation } from "./operation.ts";
import { decodePart, type OperationPart, Reassembly } from "./parts.ts";
import { type Outcome, Sending } from "./sending.ts";
import { writeStreamPosition } from "./stream-position.ts";
import { StreamShares } from "./stream-shares.ts";

/*
 * The quarantine of several nodes: what one of them puts or deletes goes through a stream, and all do it in the order
 * of that, each to a quarantine of its own. The node that takes a message looks whether its sender's share has room;
 * once the stream has it every node keeps it, whatever the shares say by then.
 * What comes again is not sent again, only how often, a few times a minute: a phone that repeats a bad point all day
 * fills no stream.
 */

export interface ReplicatedQuarantineOptions extends Omit<GroupPublisherOptions, "stream" | "kind"> {
  readonly stream: Stream;
  readonly store: QuarantineStore;
  readonly files: Pick<Files, "makeDirectory" | "replace">;
  readonly directory: string;
  /** The first message that this node needs. */
  readonly fromMessage: number;
  /** The last one that any process of this node is known to have taken. */
  readonly lastTaken: TakenMessage | null;
  /** What the stream may hold. */
  readonly streamBytesMax: number;
  /** The last one that the stream had when the start began: up to there messages may have been applied before. */
  readonly lastAtStart: number;
  /** All up to this message is on the disk, and a start will know that. */
  onPosition(message: number): void;
  /** The stream can't be followed any further; what is here is right, and gets no newer. */
  onFailed(error: unknown): void;
}

const CATCH_UP_MS = 10_000;
const SAVE_MS = 2000;
const COUNT_MS = 10_000;

/** An app may have half of the stream, so that none fills it for others; how much was purged is asked this often. */
const SHARE_PARTS = 2;
const ASK_PURGED_MS = 1000;

const OVER_SHARE = unavailable(
  "too much of this app that can't be used waits until every node of the cluster has it: send again later",
  60,
);

/** What is under way when the node stops, and what came again, is no reason to wait for servers that are away. */
const CLOSE_MS = 500;
const LAST_COUNT_MS = 500;

/** What is told at once of what came again: some 2 MB. */
const ARRIVALS_MAX = 16_384;

export class ReplicatedQuarantine implements Quarantine {
  readonly #options: ReplicatedQuarantineOptions;
  readonly #store: QuarantineStore;
  readonly #timers: Timers;
  readonly #sending: Sending;
  readonly #applying: Applying;
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
  /** Up to here nothing needs to come again. */
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
    this.#sending = new Sending(options);
    const onStuck = () => this.#caughtUp.resolve();
    this.#applying = new Applying({ store, timers, signal: this.#stopped.signal, onStuck });
    this.#reader = new GroupReader(stream.name, QUARANTINE_GROUP, decodePart);
    this.#position = options.fromMessage - 1;
    this.#saved = this.#position;
    this.#lastTaken = options.lastTaken;
  }

  /**
   * Begins to do what the stream says. Resolves once all that it had at the start is done; where that takes long, or
   * the disk refuses, no start waits for it.
   */
  async begin(): Promise<void> {
    const { stream, fromMessage, lastAtStart, onFailed } = this.#options;
    const take = (message: StreamMessage) => this.#take(message);
    this.#following = stream.follow(fromMessage, take, this.#stopped.signal).catch((error: unknown) => {
      this.#sending.publisher.stop({ kind: "log_failed", cause: error });
      this.#caughtUp.resolve();
      onFailed(error);
    });
    if (fromMessage > lastAtStart) return;
    await atMost(this.#timers, CATCH_UP_MS, this.#caughtUp.promise);
  }

  async put(messages: readonly RefusedMessage[]): Promise<Result<void, ServiceError>> {
    const first = messages[0];
    if (first === undefined) return ok(undefined);
    const refusal = this.#closed === null ? this.#applying.stuck : unavailable("the server is stopping", 5);
    if (refusal !== null) return this.#refuse(refusal);
    if (await this.#isOverShare(first.appId)) return this.#refuse(OVER_SHARE);
    const admitted = await this.#store.admit(messages);
    if (!admitted.ok) return admitted;
    const { fresh, again, release } = admitted.value;
    try {
      for (const entries of this.#sending.split(fresh)) {
        const put = await this.#sending.send(first.appId, { kind: "put", entries });
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
    return this.#sending.send(appId, { kind: "delete", appId, ids: known });
  }

  /** Each node's own: by the same rules they all come to the same. */
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
    const received: Received[] = [];
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
        received.push({ operation, settle: resolve });
      } else if (whole === "incomplete") resolve(ok(0));
      else resolve(fail(unavailable("the entry did not come as a whole", 5)));
    }
    this.#sending.noteReturned(id, number, outcomes);
    const { lastAtStart } = this.#options;
    const isApplied = await this.#applying.apply(received, number <= lastAtStart);
    if (!isApplied) return; // It comes again at the next start.
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
      if (!(error instanceof StreamError)) throw error; // Nobody can say: what is known stays.
    }
    return isOver();
  }

  #decode(message: number, bytes: Uint8Array): Operation {
    const operation = decodeOperation(bytes);
    if (operation !== null) return operation;
    throw new MessageError(
      `Message ${message} of the stream "${this.#options.stream.name}" is of a newer program, or damaged. ` +
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

  /** What the stream does not take is told with what comes next: a count may be behind, and no message is lost. */
  async #sendAgain(): Promise<void> {
    const all = [...this.#again.values()];
    this.#again.clear();
    for (let start = 0; start < all.length; start += ARRIVALS_MAX) {
      const arrivals = all.slice(start, start + ARRIVALS_MAX);
      const sent = await this.#sending.send("", { kind: "again", arrivals });
      if (!sent.ok && this.#closed === null) for (const arrival of arrivals) this.#noteAgain(arrival);
    }
  }

  #refuse(error: ServiceError): Result<never, ServiceError> {
    this.#refused++;
    return fail(error);
  }

  /** Where the disk refuses, a start goes over more of the stream once more. */
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
    const { publisher } = this.#sending;
    if (this.#applying.stuck === null) {
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

/** Whose it is; null where it is of several apps. */
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
