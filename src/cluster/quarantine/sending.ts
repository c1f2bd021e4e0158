import { randomBytes } from "node:crypto";
import { fail, ok, type Result } from "../../lib/result.ts";
import { Semaphore } from "../../lib/schedule/semaphore.ts";
import { type ServiceError, unavailable } from "../../model/errors.ts";
import type { PreparedEntry } from "../../service/quarantine/put-queue.ts";
import type { LogRefusal } from "../../wal/log.ts";
import { QUARANTINE_GROUP } from "../log/group-message.ts";
import { GroupPublisher, type GroupPublisherOptions } from "../log/group-publisher.ts";
import { encodeOperation, OPERATION_HEAD_BYTES, type Operation, putBytes } from "./operation.ts";
import { encodePart, PART_OVERHEAD_BYTES } from "./parts.ts";

/** What came of an operation: of a deletion, how many entries went. */
export type Outcome = Result<number, ServiceError>;

/** Publishes a node's own operations, and tells what came of each once it has come back and was applied here. */
export class Sending {
  readonly publisher: GroupPublisher;
  readonly #source = randomBytes(8).toString("hex");
  /** One in parts at a time: what was given up is known by the next. */
  readonly #long = new Semaphore(1);
  /** By the sequences of parts that are back. */
  readonly #outcomes = new Map<number, Promise<Outcome>>();
  #number = 0;

  constructor(options: GroupPublisherOptions) {
    this.publisher = new GroupPublisher({ ...options, kind: QUARANTINE_GROUP });
  }

  /** The longest operation, or part of one, that a message takes. */
  get #partBytesMax(): number {
    return (this.publisher.frameBytesMax & ~7) - PART_OVERHEAD_BYTES;
  }

  /** Entries that go into an operation together; one that needs several messages is alone. */
  split(entries: readonly PreparedEntry[]): PreparedEntry[][] {
    const puts: PreparedEntry[][] = [];
    let bytes = Number.POSITIVE_INFINITY;
    for (const entry of entries) {
      bytes += putBytes(entry);
      const isFull = puts.at(-1)?.length === ENTRIES_MAX;
      if (isFull || bytes > this.#partBytesMax - OPERATION_HEAD_BYTES) {
        puts.push([]);
        bytes = putBytes(entry);
      }
      puts.at(-1)!.push(entry);
    }
    return puts;
  }

  /** `owner` is whose turn a long one takes. */
  send(owner: string, operation: Operation): Promise<Outcome> {
    const bytes = encodeOperation(operation);
    if (bytes.length <= this.#partBytesMax)
      return this.#sendPart(encodePart(bytes, 0, bytes.length, this.#next()), workOf(operation));
    return this.#long.run(owner, () => this.#sendParts(bytes));
  }

  async #sendParts(bytes: Uint8Array): Promise<Outcome> {
    const named = this.#next();
    const step = this.#partBytesMax;
    let outcome: Outcome = ok(0);
    for (let start = 0; start < bytes.length && outcome.ok; start += step) {
      const end = Math.min(bytes.length, start + step);
      outcome = await this.#sendPart(encodePart(bytes, start, end, named));
    }
    return outcome;
  }

  /** `work` is as the publisher counts it. */
  async #sendPart(frame: Uint8Array<ArrayBuffer>, work = 0): Promise<Outcome> {
    const sent = await this.publisher.add(frame, work);
    if (!sent.ok) return fail(refusalError(sent.error));
    const outcome = this.#outcomes.get(sent.value)!;
    this.#outcomes.delete(sent.value);
    return outcome;
  }

  #next() {
    return { source: this.#source, number: ++this.#number };
  }

  /** A message is back: what comes of each of its entries, by their sequences, where it is one of ours. */
  noteReturned(id: string, message: number, outcomes: ReadonlyMap<number, Promise<Outcome>>): void {
    if (!this.publisher.awaits(id)) return;
    for (const [sequence, outcome] of outcomes) this.#outcomes.set(sequence, outcome);
    this.publisher.noteReturned(id, message);
  }
}

/** Every node decodes a message in one turn, at some 10 µs an entry. */
const ENTRIES_MAX = 1000;
/** So that no more go into a message: each is as much as so many reports of the log. */
const ENTRY_WORK = 8;

function workOf(operation: Operation): number {
  switch (operation.kind) {
    case "put":
      return operation.entries.length * ENTRY_WORK;
    case "delete":
      return operation.ids.length;
    case "again":
      return operation.arrivals.length;
  }
}

function refusalError(refusal: LogRefusal): ServiceError {
  switch (refusal.kind) {
    case "log_full":
      return unavailable("the log's servers have no room for what can't be used", 30);
    case "log_unreachable":
      return unavailable("no majority of the log's servers answers: send again shortly", 2);
    case "log_queue_full":
      return unavailable("too much that can't be used is waiting for the log's servers", 2);
    case "log_closed":
      return unavailable("the server is stopping", 5);
    case "log_entry_too_long":
    case "log_unopened":
    case "log_failed":
      return unavailable("the quarantine can't be kept alike on all nodes any more", 60);
  }
}
