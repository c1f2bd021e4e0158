import { Buffer } from "node:buffer";
import type { RefusedMessage } from "../../clients/refused-message.ts";
import { ok, type Result } from "../../lib/result.ts";
import type { Steps } from "../../lib/schedule/steps.ts";
import type { ServiceError } from "../../model/errors.ts";
import type { AppId } from "../../model/ids.ts";
import { entryId } from "./entry.ts";
import { encodeEntry } from "./entry-format.ts";
import { chargedBytes } from "./shares.ts";

/** What a message becomes on the disk. */
export interface PreparedEntry {
  readonly id: string;
  readonly message: RefusedMessage;
  /** Wants to be sealed. */
  readonly frame: Uint8Array<ArrayBuffer>;
}

/** Makes entries of messages, one at a step. */
export function* prepare(messages: readonly RefusedMessage[]): Steps<PreparedEntry[]> {
  const prepared: PreparedEntry[] = [];
  for (const message of messages) {
    const id = yield* entryId(message);
    prepared.push({ id: Buffer.from(id).toString("hex"), message, frame: encodeEntry(message, id) });
    yield;
  }
  return prepared;
}

/** What came again of what is here. */
export interface Arrival {
  readonly appId: AppId;
  readonly id: string;
  readonly count: number;
  readonly lastArrivedMs: number;
}

/** As they count in the shares. */
export function bytesOf(entries: readonly PreparedEntry[]): number {
  return entries.reduce((sum, { frame }) => sum + chargedBytes(frame.length), 0);
}

/** An entry that waits for the disk, and who waits for it. */
export interface PendingEntry extends PreparedEntry {
  lastArrivedMs: number;
  count: number;
  readonly puts: PendingPut[];
}

/** Resolves once all that it waits for is on the disk, or as soon as something can't be. */
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

/** Written and synced at once; what is larger is written alone. */
const GROUP_BYTES_MAX = 1024 * 1024;

/** Entries on their way to the disk, in the order they came. */
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

  /** Those that are written next: they stay here until they are. */
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
