import { fail, ok, type Result } from "../../lib/result.ts";
import { systemTimers, type Timers } from "../../lib/schedule/timers.ts";
import type { LogRefusal, LogWrite } from "../../wal/log.ts";
import { type Stream, StreamError } from "../stream/stream.ts";
import { encodeGroup, entrySequence, MESSAGE_ENTRIES_MAX, MESSAGE_HEAD_BYTES } from "./group-message.ts";

/*
 * Publishes entries in groups: all that are queued when another message may be sent. An entry is acknowledged once its
 * message has come back through the stream, so everything before it is applied by then. An entry that timed out may
 * still arrive later, and then no caller waits for it.
 */

export interface GroupPublisherOptions {
  readonly stream: Pick<Stream, "publish" | "messageBytesMax">;
  /** Prefix of the ids of this process's messages; no other process, earlier or later, has the same. */
  readonly idPrefix: string;
  /** The maximum size of unacknowledged entries. A larger entry is accepted if the queue is empty. */
  readonly queueBytesMax: number;
  /** Concurrent messages. Entries that arrive in the meantime share the next message. */
  readonly underWayMax: number;
  /** The timeout of an entry, from `add` until its message comes back. */
  readonly giveUpMs: number;
  readonly retryMs: number;
  /** Defaults to the system timers. */
  readonly timers?: Timers;
  /** A message of this process came back; `syncMs` is the time since it was published. */
  onWritten?(write: LogWrite): void;
}

/** Reports and texts per message: every node decodes one in one turn, at 1 to 2 µs each. A larger entry goes alone. */
const MESSAGE_WORK_MAX = 8192;

interface PendingEntry {
  readonly frame: Uint8Array<ArrayBuffer>;
  /** The number of reports and texts in it. */
  readonly work: number;
  /** When it times out. */
  readonly endMs: number;
  resolve(outcome: Result<number, LogRefusal>): void;
}

/** The entries of a message that has not come back yet. */
interface PendingGroup {
  readonly entries: readonly PendingEntry[];
  readonly bytes: number;
  readonly publishedMs: number;
  stopTimer(): void;
}

const TIMED_OUT: LogRefusal = { kind: "log_unreachable", cause: null };

export class GroupPublisher {
  /** The size of all unacknowledged entries. */
  bytes = 0;
  readonly #options: GroupPublisherOptions;
  readonly #timers: Timers;
  #waiting: PendingEntry[] = [];
  /** Stops the timer of the first waiting entry. */
  #stopWaitingTimer: (() => void) | null = null;
  readonly #groups = new Map<string, PendingGroup>();
  #underWay = 0;
  #counter = 0;
  #refusal: LogRefusal | null = null;
  #idle: PromiseWithResolvers<void> | null = null;
  /** Whether the last publish failed because the stream is full. */
  isFull = false;

  constructor(options: GroupPublisherOptions) {
    this.#options = options;
    this.#timers = options.timers ?? systemTimers;
  }

  get frameBytesMax(): number {
    return this.#options.stream.messageBytesMax - MESSAGE_HEAD_BYTES;
  }

  /** `frame` is an encoded entry after free space for its length; `work` is its number of reports and texts. */
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

  /** Whether this process waits for the message with this id. */
  awaits(id: string): boolean {
    return this.#groups.has(id);
  }

  /** Called when a message came through the stream and its entries were applied. */
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

  /** Refuses all waiting and future entries. */
  stop(refusal: LogRefusal): void {
    this.#refusal ??= refusal;
    this.#refuseWaiting(this.#waiting.length, this.#refusal);
    for (const [id, group] of [...this.#groups]) this.#refuse(id, group, this.#refusal);
  }

  /** Resolves once the queue is empty; timeouts bound the wait. */
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
      const stopTimer = this.#timers.after(leftMs, () => this.#refuse(id, group, TIMED_OUT));
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

  /** Times out waiting entries too, the oldest first. */
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
      const firstValid = this.#waiting.findIndex(({ endMs }) => endMs > nowMs);
      this.#refuseWaiting(firstValid < 0 ? this.#waiting.length : firstValid, TIMED_OUT);
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

  /** Ends when the stream has the message, or nothing waits for it any more. */
  async #publish(id: string, group: PendingGroup): Promise<void> {
    const { stream, retryMs } = this.#options;
    const frames = group.entries.map(({ frame }) => frame);
    const message = encodeGroup(frames);
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
      // Servers recognize a repeated id for two minutes only: after a longer pause it must not be sent again.
      if (this.#timers.nowMs() >= group.entries[0]!.endMs) return this.#refuse(id, group, TIMED_OUT);
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
