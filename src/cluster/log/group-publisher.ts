import { fail, ok, type Result } from "../../lib/result.ts";
import { systemTimers, type Timers } from "../../lib/schedule/timers.ts";
import type { LogRefusal, LogWrite } from "../../wal/log.ts";
import { type Stream, StreamError } from "../stream/stream.ts";
import {
  encodeGroup,
  entrySequence,
  type GroupKind,
  LOG_GROUP,
  MESSAGE_ENTRIES_MAX,
  MESSAGE_HEAD_BYTES,
} from "./group-message.ts";

/*
 * Publishes entries in groups: all that wait when there is room for another message. An entry is taken once its message
 * has come back by the stream, so whoever appended it hears of it when everything before it is known here. What was
 * given up may come all the same: it is then an entry that nobody waits for.
 */

export interface GroupPublisherOptions {
  readonly stream: Pick<Stream, "publish" | "messageBytesMax">;
  /** Begins the ids of this process's messages; no other process, earlier or later, has the same. */
  readonly idPrefix: string;
  /** Of encoded entries that are not acknowledged yet. A larger one is taken when nothing else waits. */
  readonly queueBytesMax: number;
  /** Messages under way at once; what comes meanwhile waits, and goes together. */
  readonly underWayMax: number;
  /** How long an entry waits for its return, in a message or to be put into one, until its sender is told. */
  readonly giveUpMs: number;
  readonly retryMs: number;
  /** Left out, entries are the log's. */
  readonly kind?: GroupKind;
  /** Left out, time passes as it does. */
  readonly timers?: Timers;
  /** A message of this process has come back: `syncMs` is how long after it was published. */
  onWritten?(write: LogWrite): void;
}

/**
 * Reports and texts that go into one message: every node decodes a message in one turn, at a microsecond or two each.
 * What is more by itself goes alone.
 */
const MESSAGE_WORK_MAX = 8192;

/** An entry on its way. */
interface PendingEntry {
  readonly frame: Uint8Array<ArrayBuffer>;
  /** Reports and texts that it has. */
  readonly work: number;
  /** When it is given up. */
  readonly endMs: number;
  resolve(outcome: Result<number, LogRefusal>): void;
}

/** Entries in one message, from when it is published until it comes back. */
interface PendingGroup {
  readonly entries: readonly PendingEntry[];
  readonly bytes: number;
  readonly publishedMs: number;
  stopTimer(): void;
}

const GIVEN_UP: LogRefusal = { kind: "log_unreachable", cause: null };

export class GroupPublisher {
  /** Of entries that wait or are under way. */
  bytes = 0;
  readonly #options: GroupPublisherOptions;
  readonly #timers: Timers;
  #waiting: PendingEntry[] = [];
  /** Of the first that waits. */
  #stopWaitingTimer: (() => void) | null = null;
  readonly #groups = new Map<string, PendingGroup>();
  #underWay = 0;
  #counter = 0;
  #refusal: LogRefusal | null = null;
  #idle: PromiseWithResolvers<void> | null = null;
  /** Whether the last publish found the stream full. */
  isFull = false;

  constructor(options: GroupPublisherOptions) {
    this.#options = options;
    this.#timers = options.timers ?? systemTimers;
  }

  /** The longest frame that fits into a message. */
  get frameBytesMax(): number {
    return this.#options.stream.messageBytesMax - MESSAGE_HEAD_BYTES;
  }

  /** The frame is an encoded entry after room for its length; `work` is how many reports and texts it has. */
  add(frame: Uint8Array<ArrayBuffer>, work = 0): Promise<Result<number, LogRefusal>> {
    if (this.#refusal !== null) return Promise.resolve(fail(this.#refusal));
    if (this.bytes > 0 && this.bytes + frame.length > this.#options.queueBytesMax)
      return Promise.resolve(fail({ kind: "log_queue_full" }));
    this.bytes += frame.length;
    const endMs = this.#timers.nowMs() + this.#options.giveUpMs;
    const outcome = new Promise<Result<number, LogRefusal>>((resolve) => {
      this.#waiting.push({ frame, work, endMs, resolve });
    });
    this.#publishWaiting();
    return outcome;
  }

  /** Whether the message with this id is one of ours that is waited for. */
  awaits(id: string): boolean {
    return this.#groups.has(id);
  }

  /** A message came by the stream, and its entries were handed over. */
  noteReturned(id: string, message: number): void {
    const group = this.#groups.get(id);
    if (group === undefined) return;
    this.#end(id, group);
    const { entries, bytes, publishedMs } = group;
    const syncMs = this.#timers.nowMs() - publishedMs;
    this.#options.onWritten?.({ entries: entries.length, bytes, syncMs });
    entries.forEach(({ resolve }, index) => {
      resolve(ok(entrySequence(message, index)));
    });
  }

  /** Takes no more, and tells everybody who waits why. */
  stop(refusal: LogRefusal): void {
    this.#refusal ??= refusal;
    this.#refuseWaiting(this.#waiting.length, this.#refusal);
    for (const [id, group] of [...this.#groups]) this.#refuse(id, group, this.#refusal);
  }

  /** Resolves once nothing waits any more; every entry ends in time. */
  async idle(): Promise<void> {
    if (this.bytes === 0) return;
    this.#idle ??= Promise.withResolvers();
    await this.#idle.promise;
  }

  #publishWaiting(): void {
    while (this.#waiting.length > 0 && this.#underWay < this.#options.underWayMax) {
      const { entries, bytes } = this.#takeGroup();
      const id = `${this.#options.idPrefix}.${this.#counter++}`;
      const leftMs = entries[0]!.endMs - this.#timers.nowMs();
      const stopTimer = this.#timers.after(leftMs, () => this.#refuse(id, group, GIVEN_UP));
      const group: PendingGroup = { entries, bytes, publishedMs: this.#timers.nowMs(), stopTimer };
      this.#groups.set(id, group);
      this.#underWay++;
      void this.#publish(id, group).finally(() => {
        this.#underWay--;
        this.#publishWaiting();
      });
    }
    this.#watchWaiting();
  }

  /** Those that find no room among what is under way are given up too, the first one first. */
  #watchWaiting(): void {
    const first = this.#waiting[0];
    if (first === undefined) {
      this.#stopWaitingTimer?.();
      this.#stopWaitingTimer = null;
      return;
    }
    this.#stopWaitingTimer ??= this.#timers.after(first.endMs - this.#timers.nowMs(), () => {
      this.#stopWaitingTimer = null;
      const nowMs = this.#timers.nowMs();
      const left = this.#waiting.findIndex(({ endMs }) => endMs > nowMs);
      this.#refuseWaiting(left < 0 ? this.#waiting.length : left, GIVEN_UP);
      this.#watchWaiting();
    });
  }

  #refuseWaiting(count: number, refusal: LogRefusal): void {
    for (const { resolve, frame } of this.#waiting.splice(0, count)) {
      this.#release(frame.length);
      resolve(fail(refusal));
    }
  }

  #takeGroup(): { entries: PendingEntry[]; bytes: number } {
    let count = 0;
    let bytes = 0;
    let allWork = 0;
    for (const { frame, work } of this.#waiting) {
      const isTooMuch = bytes + frame.length > this.frameBytesMax || allWork + work > MESSAGE_WORK_MAX;
      if (count === MESSAGE_ENTRIES_MAX || (count > 0 && isTooMuch)) break;
      bytes += frame.length;
      allWork += work;
      count++;
    }
    return { entries: this.#waiting.splice(0, count), bytes };
  }

  /** Ends when the stream has the message, or it is not waited for any more. */
  async #publish(id: string, group: PendingGroup): Promise<void> {
    const { stream, retryMs, kind = LOG_GROUP } = this.#options;
    const frames = group.entries.map(({ frame }) => frame);
    const message = encodeGroup(frames, kind);
    while (this.#groups.has(id)) {
      try {
        await stream.publish(message, id);
        this.isFull = false;
        return;
      } catch (error) {
        if (!(error instanceof StreamError)) throw error;
        if (error.kind !== "unreachable") return this.#refuse(id, group, this.#refusalOf(error));
      }
      await new Promise<void>((resolve) => this.#timers.after(retryMs, resolve));
      // The same id is taken once, for two minutes: a process that stood still for longer must not send it again.
      if (this.#timers.nowMs() >= group.entries[0]!.endMs) return this.#refuse(id, group, GIVEN_UP);
    }
  }

  #refusalOf(error: StreamError): LogRefusal {
    this.isFull = error.kind === "full";
    return this.isFull ? { kind: "log_full" } : { kind: "log_unreachable", cause: error };
  }

  #refuse(id: string, group: PendingGroup, refusal: LogRefusal): void {
    if (this.#groups.get(id) !== group) return;
    this.#end(id, group);
    for (const { resolve } of group.entries) resolve(fail(refusal));
  }

  #end(id: string, group: PendingGroup): void {
    this.#groups.delete(id);
    group.stopTimer();
    this.#release(group.bytes);
  }

  #release(bytes: number): void {
    this.bytes -= bytes;
    if (this.bytes > 0) return;
    this.#idle?.resolve();
    this.#idle = null;
  }
}
