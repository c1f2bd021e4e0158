import { Buffer } from "node:buffer";
import type { RefusedMessage } from "../../clients/refused-message.ts";
import { ok, type Result } from "../../lib/result.ts";
import type { Steps } from "../../lib/schedule/steps.ts";
import type { ServiceError } from "../../model/errors.ts";
import type { AppId } from "../../model/ids.ts";
import { entryId } from "./entry.ts";
import { encodeEntry } from "./entry-format.ts";
import { chargedBytes } from "./shares.ts";

/** A message in the form of the disk. */
export interface PreparedEntry {
  readonly id: string;
  readonly message: RefusedMessage;
  /** Its checksum is not set yet. */
  readonly frame: Uint8Array<ArrayBuffer>;
}

/** Prepares messages, one in each step. */
export function* prepare(messages: readonly RefusedMessage[]): Steps<PreparedEntry[]> {
  const prepared: PreparedEntry[] = [];
  for (const message of messages) {
    const id = yield* entryId(message);
    prepared.push({ id: Buffer.from(id).toString("hex"), message, frame: encodeEntry(message, id) });
    yield;
  }
  return prepared;
}

/** A repeated arrival of a stored entry. */
export interface Arrival {
  readonly appId: AppId;
  readonly id: string;
  readonly count: number;
  readonly lastArrivedMs: number;
}

/** Their size as it counts in the shares. */
export function bytesOf(entries: readonly PreparedEntry[]): number {
  return entries.reduce((sum, { frame }) => sum + chargedBytes(frame.length), 0);
}

/** An entry that waits for the disk, and the calls that wait for it. */
export interface PendingEntry extends PreparedEntry {
  lastArrivedMs: number;
  count: number;
  readonly puts: PendingPut[];
}

/** Resolves once all entries of a call are on the disk, or as soon as one fails. */
export class PendingPut {
  readonly done: Promise<Result<void, ServiceError>>;
  #resolve!: (outcome: Result<void, ServiceError>) => void;
  #waitingFor: number;

  constructor(waitingFor: number) {
    this.#waitingFor = waitingFor;
    this.done = new Promise((resolve) => {
      this.#resolve = resolve;
    });
  }

  settle(outcome: Result<void, ServiceError>): void {
    this.#waitingFor--;
    if (!outcome.ok) this.#resolve(outcome);
    else if (this.#waitingFor <= 0) this.#resolve(ok(undefined));
  }
}

/** Bytes that are written and synced together; a larger entry is written alone. */
const GROUP_BYTES_MAX = 1024 * 1024;

/** Entries on their way to the disk, in the order of their arrival. */
export class PutQueue {
  readonly #entries = new Map<string, PendingEntry>();

  get isEmpty(): boolean {
    return this.#entries.size === 0;
  }

  find(name: string): PendingEntry | null {
    return this.#entries.get(name) ?? null;
  }

  add(name: string, entry: PendingEntry): void {
    this.#entries.set(name, entry);
  }

  /** The entries to write next; they stay in the queue until they are written. */
  nextGroup(): {
    readonly names: readonly string[];
    readonly entries: readonly PendingEntry[];
    readonly bytes: number;
  } {
    const names: string[] = [];
    const entries: PendingEntry[] = [];
    let bytes = 0;
    for (const [name, entry] of this.#entries) {
      if (entries.length > 0 && bytes + entry.frame.length > GROUP_BYTES_MAX) break;
      names.push(name);
      entries.push(entry);
      bytes += entry.frame.length;
    }
    return { names, entries, bytes };
  }

  remove(names: readonly string[]): void {
    for (const name of names) this.#entries.delete(name);
  }
}
