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

/** The result of an operation; for a deletion, the number of deleted entries. */
export type Outcome = Result<number, ServiceError>;

/** Publishes this node's operations, and returns the outcome of each once it has come back and was applied here. */
export class OperationSender {
  readonly publisher: GroupPublisher;
  readonly #source = randomBytes(8).toString("hex");
  /** Limits operations in parts to one at a time, so that an abandoned one is recognized by the next. */
  readonly #long = new Semaphore(1);
  /** Outcomes by the sequences of parts that came back. */
  readonly #outcomes = new Map<number, Promise<Outcome>>();
  #number = 0;

  constructor(options: GroupPublisherOptions) {
    this.publisher = new GroupPublisher({ ...options, kind: QUARANTINE_GROUP });
  }

  /** The longest operation or part that fits into a message. */
  get #partBytesMax(): number {
    return (this.publisher.frameBytesMax & ~7) - PART_OVERHEAD_BYTES;
  }

  /** Groups entries into operations; an entry that needs several messages is alone. */
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

  /** A long operation waits for its turn, which owners share fairly. */
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

  async #sendPart(frame: Uint8Array<ArrayBuffer>, work = 0): Promise<Outcome> {
    const result = await this.publisher.add(frame, work);
    if (!result.ok) return fail(refusalError(result.error));
    const outcome = this.#outcomes.get(result.value)!;
    this.#outcomes.delete(result.value);
    return outcome;
  }

  #next() {
    return { source: this.#source, number: ++this.#number };
  }

  /** A message came back. If it is one of ours, `outcomes` has the result of each entry by its sequence. */
  noteReturned(id: string, message: number, outcomes: ReadonlyMap<number, Promise<Outcome>>): void {
    if (!this.publisher.awaits(id)) return;
    for (const [sequence, outcome] of outcomes) this.#outcomes.set(sequence, outcome);
    this.publisher.noteReturned(id, message);
  }
}

/** Every node decodes a message in one turn, at 10 µs an entry. */
const ENTRIES_MAX = 1000;
/** Weighs an entry like this many reports of the log, to limit the entries of a message. */
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
      return unavailable("the log's servers have no room for unusable messages", 30);
    case "log_unreachable":
      return unavailable("no majority of the log's servers answers: send again shortly", 2);
    case "log_queue_full":
      return unavailable("too many unusable messages are waiting for the log's servers", 2);
    case "log_closed":
      return unavailable("the server is stopping", 5);
    case "log_entry_too_long":
    case "log_unopened":
    case "log_failed":
      return unavailable("the quarantine can't be replicated to all nodes any more", 60);
  }
}
