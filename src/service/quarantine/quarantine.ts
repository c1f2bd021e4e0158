import { randomInt } from "node:crypto";
import type { RefusedMessage } from "../../clients/refused-message.ts";
import { fail, ok, type Result } from "../../lib/result.ts";
import type { Scheduler } from "../../lib/schedule/scheduler.ts";
import { Semaphore } from "../../lib/schedule/semaphore.ts";
import type { Steps } from "../../lib/schedule/steps.ts";
import { atMost, nextTurn, type Timers } from "../../lib/schedule/timers.ts";
import { type ServiceError, unavailable } from "../../model/errors.ts";
import type { AppId } from "../../model/ids.ts";
import {
  type Arrival,
  ENTRY_IDS_MAX,
  PIECE_ENTRY_BYTES_MAX,
  PIECE_OVERHEAD_BYTES,
  type QuarantineEntry,
} from "../../model/quarantine-entry.ts";
import { isDiskFull } from "../../runtime/files.ts";
import { entryId, type FoundMessageEntry } from "./entry.ts";
import type { EntryFilter, EntryPage, IndexedEntry, KindCount } from "./entry-index.ts";
import { decodeMessageFile, encodeMessageFile } from "./message-file.ts";
import type { MessageStore } from "./message-store.ts";
import { chargedBytes, type FullShare, holderOf, Shares } from "./shares.ts";

/*
 * What the server does with messages that could not be used. The messages themselves, which are the same on all nodes,
 * are in message-store.ts; here is what this process has under way.
 */

export interface QuarantineOptions {
  readonly messages: MessageStore;
  /** Resolves once the log and `messages` have the entry. */
  append(entry: QuarantineEntry): Promise<Result<unknown, ServiceError>>;
  /** Whether the log has failed, perhaps at the start: then memory may show what the disk lacks. */
  hasFailed(): boolean;
  /** The longest entry that the log accepts. */
  readonly entryBytesMax: number;
  /** Names this node in the entries. */
  readonly source: string;
  readonly scheduler: Scheduler;
  readonly timers: Timers;
  /** Starts a seal, because only then the log may drop deleted messages. */
  sealSoon(): void;
}

export interface QuarantineTotals {
  readonly entries: number;
  /** Their size as it counts in the shares. */
  readonly bytes: number;
  readonly bytesMax: number;
  /** Entries of brokers that were displaced by newer ones of the same topic or broker. */
  readonly displaced: number;
  /** Calls of `put` that failed because a share or the disk was full, or the disk failed. */
  readonly refused: number;
  readonly kinds: readonly KindCount[];
}

/** Repeated arrivals are collected for this long: a phone that repeats a bad point all day must not fill the log. */
const COUNT_MS = 10_000;
/** How long a stopping process waits for the last counts. */
const CLOSE_MS = 500;
/** The bytes of short messages that a call hands to the log at once. */
const GROUP_BYTES_MAX = 1024 * 1024;
/** Entries that a sweep visits in one turn of the event loop; there may be a quarter of a million. */
const SWEEP_LOOKS = 4096;
/** The part of a share that is freed at once for messages of a broker. */
const DISPLACED_PARTS = 16;
/** A seal begins early if deleted messages of an app take this part of its share in the log. */
const SEALED_PARTS = 4;
/** The retry delay for senders: a full disk or share seldom has room sooner. */
const RETRY_SECONDS = 30;

/**
 * Stores messages that could not be used, until they are replayed, deleted or expire. Every change is an entry of the
 * log, and answers wait for that. Repetitions by a key are counted.
 */
export class Quarantine {
  readonly #options: QuarantineOptions;
  readonly #messages: MessageStore;
  /** Room in the shares for messages on their way to the log. */
  readonly #promised: Shares;
  /** Messages on their way to the log or out of the quarantine, by id. */
  readonly #underWay = new Map<string, Promise<Result<void, ServiceError>>>();
  readonly #leaving = new Map<string, Promise<unknown>>();
  readonly #again = new Map<string, Arrival & { readonly appId: AppId }>();
  /** One long message at a time, because an unfinished one is given up when its source begins another. */
  readonly #long = new Semaphore(1);
  /** One file is read at a time, because one may have 16 MiB. */
  readonly #reads = new Semaphore(1);
  #stopCounting: (() => void) | null = null;
  #refused = 0;
  #displaced = 0;
  #isClosed = false;

  constructor(options: QuarantineOptions) {
    this.#options = options;
    this.#messages = options.messages;
    this.#promised = new Shares(options.messages.shares.bounds);
  }

  /**
   * Stores messages of one sender; on `ok` all of them are in the log, otherwise some may be. `unavailable` if the
   * share of the key or app or the whole quarantine is full, or if the disk refuses. A broker's messages displace the
   * oldest entries of their topic, else of their app's brokers: a refused message would block all other phones of its
   * connection.
   */
  async put(messages: readonly RefusedMessage[]): Promise<Result<void, ServiceError>> {
    const first = messages[0];
    if (first === undefined) return ok(undefined);
    const prepared = await this.#options.scheduler.run(`quarantine ${first.appId}`, prepare(messages));
    const stored = await this.#take(prepared, first);
    if (!stored.ok) this.#refused++;
    return stored;
  }

  /** Apps with entries. */
  apps(): readonly AppId[] {
    return this.#messages.index.apps();
  }

  /** An app's entries, the newest first. */
  list(appId: AppId, filter: EntryFilter, offset: number, limit: number): EntryPage {
    const { entries, total } = this.#messages.index.list(appId, filter, offset, limit);
    return { entries: entries.map((entry) => this.#withArrivals(entry)), total };
  }

  /** One entry of an app; null if there is none, or it is damaged. Throws a `FileError` if the disk can't read it. */
  async find(appId: AppId, id: string): Promise<FoundMessageEntry | null> {
    const entry = this.#messages.index.find(appId, id);
    if (entry === null) return null;
    const bytes = await this.#reads.run(appId, () => this.#messages.files.read(entry.name));
    const message = bytes === null ? null : decodeMessageFile(bytes);
    return message === null ? null : { summary: this.#withArrivals(entry), message };
  }

  /** Deletes entries for good; returns how many there were. On `unavailable` some may be deleted. */
  async delete(appId: AppId, ids: readonly string[]): Promise<Result<number, ServiceError>> {
    if (this.#isClosed) return fail(STOPPING);
    if (this.#options.hasFailed()) return fail(UNWRITABLE);
    const known = [...new Set(ids)]
      .map((id) => this.#messages.index.find(appId, id))
      .filter((entry) => entry !== null);
    for (let start = 0; start < known.length; start += ENTRY_IDS_MAX) {
      const messages = known
        .slice(start, start + ENTRY_IDS_MAX)
        .map(({ id, sequence }) => ({ id, sequence }));
      const deleted = this.#options.append({ kind: "refused_deletion", appId, messages });
      for (const { id } of messages) this.#leaving.set(id, deleted);
      const outcome = await deleted;
      for (const { id } of messages) if (this.#leaving.get(id) === deleted) this.#leaving.delete(id);
      if (!outcome.ok) return outcome;
    }
    const { logShares } = this.#messages;
    if (logShares.ofApp({ appId }) > logShares.bounds.appBytesMax / SEALED_PARTS) this.#options.sealSoon();
    return ok(known.length);
  }

  /** Deletes entries whose last arrival was before this. */
  async sweep(oldestMs: number): Promise<void> {
    for (const appId of this.apps()) {
      const old: string[] = [];
      let looks = 0;
      for (const entry of this.#messages.index.entriesOf(appId)) {
        if (this.#withArrivals(entry).lastArrivedMs < oldestMs) old.push(entry.id);
        if (++looks % SWEEP_LOOKS === 0) await nextTurn();
      }
      await this.delete(appId, old); // If the log refuses, the next sweep does it.
    }
  }

  get totals(): QuarantineTotals {
    const { index, shares } = this.#messages;
    return {
      entries: index.size,
      bytes: shares.bytes,
      bytesMax: shares.bounds.bytesMax,
      displaced: this.#displaced,
      refused: this.#refused,
      kinds: index.kinds(),
    };
  }

  /** Hands the last counts to the log. */
  async close(): Promise<void> {
    if (this.#isClosed) return;
    this.#isClosed = true;
    this.#stopCounting?.();
    await atMost(this.#options.timers, CLOSE_MS, this.#sendAgain());
    await this.#messages.files.settle();
  }

  async #take(prepared: readonly Prepared[], sender: RefusedMessage): Promise<Result<void, ServiceError>> {
    if (this.#isClosed) return fail(STOPPING);
    if (this.#options.hasFailed()) return fail(UNWRITABLE);
    const { files } = this.#messages;
    // What the disk refuses to store of earlier messages is in memory, which must not fill up.
    const failure = files.failure === null ? null : await files.settle();
    if (failure !== null) return fail(isDiskFull(failure) ? unavailableFor("the disk is full") : UNWRITABLE);
    if (sender.topic !== null) await this.#makeRoom(prepared, sender);
    const isLeaving = () => prepared.some(({ id }) => this.#leaving.has(id));
    // What leaves is stored again afterwards, because its sender gets an acknowledgement.
    while (isLeaving()) await Promise.all(prepared.map(({ id }) => this.#leaving.get(id)));
    // From here to the first `append`, in one turn.
    const fresh = this.#findFresh(prepared);
    const full = this.#findFull(fresh, sender);
    if (full !== null) return fail(unavailableFor(FULL_SHARES[full]));
    const stored = this.#store(fresh, sender);
    const others = prepared.filter((entry) => !fresh.includes(entry));
    const pending = others.map(({ id }) => this.#underWay.get(id) ?? ok<void>(undefined));
    for (const outcome of [await stored, ...(await Promise.all(pending))]) if (!outcome.ok) return outcome;
    for (const { id } of others)
      this.#noteAgain({ id, count: 1, lastArrivedMs: sender.arrivedMs }, sender.appId);
    return ok(undefined);
  }

  /** The messages that are not stored yet, each once. */
  #findFresh(prepared: readonly Prepared[]): readonly Prepared[] {
    const { index } = this.#messages;
    const unknown = prepared.filter(
      ({ id, appId }) => index.find(appId, id) === null && !this.#underWay.has(id),
    );
    return [...new Map(unknown.map((entry) => [entry.id, entry])).values()];
  }

  #findFull(fresh: readonly Prepared[], sender: RefusedMessage): FullShare | null {
    const { shares, logShares } = this.#messages;
    if (fresh.length === 0) return null;
    const full = shares.findFull(holderOf(sender), bytesOf(fresh), logShares, this.#promised);
    if (full !== null && logShares.bytes > 0) this.#options.sealSoon();
    return full;
  }

  /** Deletes the oldest entries of the topic, or of the app's brokers if the app's share is full, as needed. */
  async #makeRoom(prepared: readonly Prepared[], sender: RefusedMessage): Promise<void> {
    const { shares } = this.#messages;
    for (;;) {
      const bytes = bytesOf(this.#findFresh(prepared));
      const full = bytes === 0 ? null : shares.findFull(holderOf(sender), bytes, this.#promised);
      if (full === null) return;
      // If the whole quarantine is full, others would take room that is freed beyond the need.
      const spare = full === "all" ? 0 : shares.bounds.keyBytesMax / DISPLACED_PARTS;
      const mayGo = (entry: IndexedEntry) =>
        full === "key" ? entry.topic === sender.topic : entry.topic !== null;
      const oldest = this.#messages.index.oldest(sender.appId, mayGo, Math.max(bytes, spare));
      if (oldest.length === 0) return;
      const ids = oldest.map(({ id }) => id);
      if (!(await this.delete(sender.appId, ids)).ok) return;
      this.#displaced += oldest.length;
    }
  }

  /** Short messages are handed to the log together, a long one in pieces. */
  async #store(fresh: readonly Prepared[], sender: RefusedMessage): Promise<Result<void, ServiceError>> {
    const holder = holderOf(sender);
    const left = new Set(fresh);
    const stored = fresh.map(() => Promise.withResolvers<Result<void, ServiceError>>());
    fresh.forEach((entry, index) => {
      this.#promised.take(holder, chargedBytes(entry.content.length));
      this.#underWay.set(entry.id, stored[index]!.promise);
    });
    const settle = (entry: Prepared, outcome: Result<void, ServiceError>) => {
      left.delete(entry);
      this.#promised.give(holder, chargedBytes(entry.content.length));
      this.#underWay.delete(entry.id);
      stored[fresh.indexOf(entry)]!.resolve(outcome);
    };
    let all: Result<void, ServiceError> = ok(undefined);
    for (let start = 0; start < fresh.length && all.ok; ) {
      const end = groupEnd(fresh, start);
      const group = fresh.slice(start, end);
      const outcomes = await Promise.all(group.map((entry) => this.#append(entry)));
      group.forEach((entry, index) => {
        settle(entry, outcomes[index]!);
      });
      all = outcomes.find((outcome) => !outcome.ok) ?? all;
      start = end;
    }
    for (const entry of left) settle(entry, all);
    return all;
  }

  async #append({ id, appId, content }: Prepared): Promise<Result<void, ServiceError>> {
    const { append, source, entryBytesMax } = this.#options;
    const pieceBytes = Math.min(PIECE_ENTRY_BYTES_MAX, entryBytesMax) - PIECE_OVERHEAD_BYTES;
    const totalBytes = content.length;
    const common = {
      kind: "refused_piece",
      appId,
      id,
      source,
      number: randomInt(2 ** 47),
      totalBytes,
    } as const;
    const appendFrom = async (start: number): Promise<Result<void, ServiceError>> => {
      const bytes = content.subarray(start, start + pieceBytes);
      const appended = await append({ ...common, start, bytes });
      return appended.ok ? ok(undefined) : appended;
    };
    if (totalBytes <= pieceBytes) return appendFrom(0);
    return this.#long.run(appId, async () => {
      for (let start = 0; start < totalBytes; start += pieceBytes) {
        const appended = await appendFrom(start);
        if (!appended.ok) return appended;
      }
      // A late piece of an earlier message may have come between two of these.
      const isThere = this.#messages.index.find(appId, id) !== null;
      return isThere ? ok(undefined) : fail(unavailableFor("the message did not arrive completely"));
    });
  }

  #withArrivals(entry: IndexedEntry): IndexedEntry {
    const again = this.#again.get(entry.id);
    if (again === undefined) return entry;
    const lastArrivedMs = Math.max(entry.lastArrivedMs, again.lastArrivedMs);
    return { ...entry, count: entry.count + again.count, lastArrivedMs };
  }

  #noteAgain({ id, count, lastArrivedMs }: Arrival, appId: AppId): void {
    const known = this.#again.get(id) ?? { count: 0, lastArrivedMs: 0 };
    this.#again.set(id, {
      appId,
      id,
      count: known.count + count,
      lastArrivedMs: Math.max(known.lastArrivedMs, lastArrivedMs),
    });
    if (this.#isClosed) return;
    this.#stopCounting ??= this.#options.timers.after(COUNT_MS, () => {
      this.#stopCounting = null;
      void this.#sendAgain();
    });
  }

  /** Counts that the log refuses are added to the next ones: a count may lag behind, but no message is lost. */
  async #sendAgain(): Promise<void> {
    for (const [appId, all] of Map.groupBy([...this.#again.values()], (each) => each.appId)) {
      for (let start = 0; start < all.length; start += ENTRY_IDS_MAX) {
        const arrivals = all
          .slice(start, start + ENTRY_IDS_MAX)
          .map(({ id, count, lastArrivedMs }) => ({ id, count, lastArrivedMs }));
        for (const { id } of arrivals) this.#again.delete(id);
        const outcome = await this.#options.append({ kind: "refused_arrivals", appId, arrivals });
        if (!outcome.ok) for (const arrival of arrivals) this.#noteAgain(arrival, appId);
      }
    }
  }
}

/** A message with the content of its file. */
interface Prepared {
  readonly id: string;
  readonly appId: AppId;
  readonly content: Uint8Array;
}

/** Prepares messages, one in each step. */
function* prepare(messages: readonly RefusedMessage[]): Steps<Prepared[]> {
  const prepared: Prepared[] = [];
  for (const message of messages) {
    const id = yield* entryId(message);
    prepared.push({ id, appId: message.appId, content: encodeMessageFile(message) });
    yield;
  }
  return prepared;
}

function bytesOf(prepared: readonly Prepared[]): number {
  return prepared.reduce((sum, { content }) => sum + chargedBytes(content.length), 0);
}

/** The end of the messages from `start` on that are handed to the log at once: at least one. */
function groupEnd(prepared: readonly Prepared[], start: number): number {
  let bytes = 0;
  let end = start;
  do bytes += prepared[end++]!.content.length;
  while (end < prepared.length && bytes + prepared[end]!.content.length <= GROUP_BYTES_MAX);
  return end;
}

const FULL_SHARES: Readonly<Record<FullShare, string>> = {
  key: "unusable input from this key fills its share of the quarantine",
  app: "unusable input from this app fills its share of the quarantine",
  all: "the quarantine is full",
};

function unavailableFor(message: string): ServiceError {
  return unavailable(message, RETRY_SECONDS);
}

const UNWRITABLE = unavailableFor("the quarantine can't be written");
const STOPPING = unavailable("the server is stopping", 5);
