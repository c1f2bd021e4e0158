import type { RefusedMessage } from "../../clients/refused-message.ts";
import { fail, ok, type Result } from "../../lib/result.ts";
import type { Scheduler } from "../../lib/schedule/scheduler.ts";
import { Semaphore } from "../../lib/schedule/semaphore.ts";
import { nextTurn } from "../../lib/schedule/timers.ts";
import type { ServiceError } from "../../model/errors.ts";
import type { AppId } from "../../model/ids.ts";
import { type FileError, type Files, ignoreFileError, isDiskFull } from "../../runtime/files.ts";
import { type Admission, Admissions, findGivingWay } from "./admissions.ts";
import { Deletions } from "./deletions.ts";
import { type QuarantineEntry, toldOf } from "./entry.ts";
import type { EntryFilter, EntryIndex, EntryPage } from "./entry-index.ts";
import {
  type Arrival,
  bytesOf,
  type PendingEntry,
  PendingPut,
  type PreparedEntry,
  PutQueue,
  prepare,
} from "./put-queue.ts";
import type { Quarantine, QuarantineTotals } from "./quarantine.ts";
import { readEntry, readSequences } from "./read-segments.ts";
import type { IndexedEntry, Segment } from "./segment.ts";
import type { Segments } from "./segments.ts";
import { chargedBytes, type FullShare, holderOf, type Shares } from "./shares.ts";

/*
 * The store of the quarantine. Waiting puts are written together and share a sync; between two such groups, deletions
 * rewrite one segment after the other.
 */

export interface StoreOptions {
  readonly files: Files;
  readonly segments: Segments;
  readonly index: EntryIndex;
  readonly shares: Shares;
  readonly scheduler: Scheduler;
}

/** How entries are stored. */
interface TakeRule {
  /** Whether there must be room in the shares; otherwise it was reserved before. */
  readonly needsRoom: boolean;
  /** Whether the same arrival may come twice, and must then count once. */
  readonly mayRepeat: boolean;
}

const AS_IT_COMES: TakeRule = { needsRoom: true, mayRepeat: false };

/** Segments that are rewritten at the end to save their entries' arrivals: a second of a usual disk. */
const RECOUNTED_AT_CLOSE_MAX = 64;
/** Entries that a sweep visits in one turn of the event loop; there may be a quarter of a million. */
const SWEEP_LOOKS = 4096;

/** The retry delay for senders: a full disk or share seldom has room sooner. */
const RETRY_SECONDS = 30;

export class QuarantineStore implements Quarantine {
  readonly #files: Files;
  readonly #segments: Segments;
  readonly #index: EntryIndex;
  readonly #shares: Shares;
  readonly #admissions: Admissions;
  readonly #scheduler: Scheduler;
  readonly #queue = new PutQueue();
  readonly #unsure: PendingPut[] = [];
  readonly #deletions = new Deletions();
  /** One segment is read at a time, because one may have 16 MiB. */
  readonly #reads = new Semaphore(1);
  /** Segments with entries that arrived again since the segment was written. */
  readonly #recounted = new Set<Segment>();
  #refused = 0;
  #displaced = 0;
  #working: Promise<void> | null = null;
  #isClosed = false;

  constructor({ files, segments, index, shares, scheduler }: StoreOptions) {
    this.#files = files;
    this.#segments = segments;
    this.#index = index;
    this.#shares = shares;
    this.#admissions = new Admissions(index, shares);
    this.#scheduler = scheduler;
  }

  async put(messages: readonly RefusedMessage[]): Promise<Result<void, ServiceError>> {
    const first = messages[0];
    if (first === undefined) return ok(undefined);
    const prepared = await this.#scheduler.run(ownerOf(first.appId), prepare(messages));
    if (first.topic !== null) await this.#makeRoom(prepared);
    const result = await this.#take(prepared, AS_IT_COMES);
    if (!result.ok) this.#refused++;
    return result;
  }

  /** Checks whether there is room for messages of one sender, without storing them. */
  async admit(messages: readonly RefusedMessage[]): Promise<Result<Admission, ServiceError>> {
    const first = messages[0]!;
    const prepared = await this.#scheduler.run(ownerOf(first.appId), prepare(messages));
    const admission = this.#admissions.admit(prepared, (id) => this.#isHereForSure(first.appId, id));
    if (admission.ok) return admission;
    this.#refused++;
    return fail(unavailable(FULL_SHARES[admission.error]));
  }

  /**
   * Stores entries of one sender that were admitted, here or by another node, whatever the shares are now. Entries are
   * stored in the order of the calls, except for those of brokers, which may have to wait for older ones to be deleted.
   */
  async keep(entries: readonly PreparedEntry[], mayRepeat: boolean): Promise<Result<void, ServiceError>> {
    if (entries[0]!.message.topic !== null) await this.#makeRoom(entries);
    return this.#take(entries, { needsRoom: false, mayRepeat });
  }

  /** Counts a further arrival; ignores entries that are deleted. */
  countAgain({ appId, id, count, lastArrivedMs }: Arrival, mayRepeat: boolean): void {
    const known = this.#index.find(appId, id);
    if (known !== null) this.#count(known, count, lastArrivedMs, mayRepeat);
  }

  apps(): readonly AppId[] {
    return this.#index.apps();
  }

  has(appId: AppId, id: string): boolean {
    return this.#index.find(appId, id) !== null;
  }

  list(appId: AppId, filter: EntryFilter, offset: number, limit: number): EntryPage {
    return this.#index.list(appId, filter, offset, limit);
  }

  async find(appId: AppId, id: string): Promise<QuarantineEntry | null> {
    const entry = this.#index.find(appId, id);
    if (entry === null) return null;
    const { segment, sequence } = entry;
    const message = await this.#reads.run(appId, () => readEntry(this.#files, segment, sequence));
    return message === null ? null : { summary: entry, message };
  }

  async delete(appId: AppId, ids: readonly string[]): Promise<Result<number, ServiceError>> {
    const entries = [...new Set(ids)].flatMap((id) => this.#index.find(appId, id) ?? []);
    return this.#delete(entries);
  }

  async sweep(oldestMs: number): Promise<void> {
    const isOld = ({ lastArrivedMs }: IndexedEntry) => lastArrivedMs < oldestMs;
    const segments = new Set<Segment>();
    let looks = 0;
    for (const entry of this.#index.entries()) {
      if (isOld(entry)) segments.add(entry.segment);
      if (++looks % SWEEP_LOOKS === 0) await nextTurn();
    }
    const written: Promise<unknown>[] = [];
    for (const segment of segments) {
      const old = [...segment.live.values()].filter(isOld); // Checked again, because some may have arrived since.
      if (old.length > 0) written.push(this.#rewrite(new Map([[segment, old]])));
      await nextTurn();
    }
    await Promise.all([...written, this.#writeCounts(Number.POSITIVE_INFINITY)]);
  }

  get totals(): QuarantineTotals {
    const { bytes, bytesMax } = this.#shares;
    return {
      entries: this.#index.size,
      bytes,
      bytesMax,
      displaced: this.#displaced,
      refused: this.#refused,
      kinds: this.#index.kinds(),
    };
  }

  async close(): Promise<void> {
    this.#isClosed = true;
    await this.#writeCounts(RECOUNTED_AT_CLOSE_MAX);
    await this.#working;
    await this.#segments.leave();
  }

  /** In one turn of the event loop, so that shares and queue don't change meanwhile. */
  #take(prepared: readonly PreparedEntry[], rule: TakeRule): Promise<Result<void, ServiceError>> {
    if (this.#isClosed) return Promise.resolve(fail(unavailable("the server is stopping")));
    const leaving = this.#findLeaving(prepared);
    if (leaving !== null) return leaving.then(() => this.#take(prepared, rule));
    const fresh = this.#findFresh(prepared);
    const holder = holderOf(prepared[0]!.message);
    const bytes = bytesOf(fresh);
    const mustFit = rule.needsRoom && fresh.length > 0;
    const full = mustFit ? this.#shares.findFull(holder, bytes) : null;
    if (full !== null) return Promise.resolve(fail(unavailable(FULL_SHARES[full])));
    this.#shares.take(holder, bytes);
    for (const entry of fresh) this.#enqueue(entry);
    return this.#await(prepared, new Set(fresh), rule);
  }

  /**
   * An entry that arrives during its deletion is stored again afterwards, because its sender gets an acknowledgement.
   */
  #findLeaving(prepared: readonly PreparedEntry[]): Promise<void> | null {
    if (this.#working === null) return null;
    for (const { id, message } of prepared) {
      const known = this.#index.find(message.appId, id);
      const leaving = known === null ? null : this.#deletions.leaving(known);
      if (leaving !== null) return leaving;
    }
    return null;
  }

  /** The entries that are not stored yet, each once. */
  #findFresh(prepared: readonly PreparedEntry[]): readonly PreparedEntry[] {
    const unknown = prepared.filter(({ id, message }) => this.#findAny(message.appId, id) === null);
    return [...new Map(unknown.map((entry) => [entry.id, entry])).values()]; // All are of one sender.
  }

  /** Deletes the oldest entries of the topic, or of the app's brokers if the app's share is full, as needed. */
  async #makeRoom(prepared: readonly PreparedEntry[]): Promise<void> {
    const first = prepared[0]!.message;
    const holder = holderOf(first);
    for (;;) {
      const bytes = bytesOf(this.#findFresh(prepared));
      const full = bytes === 0 ? null : this.#shares.findFull(holder, bytes);
      if (full === null) return;
      const oldest = findGivingWay(this.#index, this.#shares, first, full, bytes);
      if (oldest.length === 0 || !(await this.#delete(oldest)).ok) return;
      this.#displaced += oldest.length;
    }
  }

  #enqueue(entry: PreparedEntry): void {
    const { appId, arrivedMs } = entry.message;
    this.#queue.add(`${appId} ${entry.id}`, { ...entry, lastArrivedMs: arrivedMs, count: 1, puts: [] });
  }

  /** Resolves once all are on the disk; known entries count another arrival. */
  #await(
    prepared: readonly PreparedEntry[],
    fresh: ReadonlySet<PreparedEntry>,
    { mayRepeat }: TakeRule,
  ): Promise<Result<void, ServiceError>> {
    const pending: PendingEntry[] = [];
    for (const entry of prepared) {
      const { appId, arrivedMs } = entry.message;
      const known = this.#findAny(appId, entry.id)!;
      if (!fresh.has(entry)) this.#count(known, 1, arrivedMs, mayRepeat);
      if ("puts" in known) pending.push(known);
    }
    if (pending.length === 0 && !this.#segments.isUnsure) return Promise.resolve(ok(undefined));
    const put = new PendingPut(pending.length);
    for (const { puts } of pending) puts.push(put);
    if (pending.length === 0) this.#unsure.push(put);
    this.#startWorking();
    return put.done;
  }

  #findAny(appId: AppId, id: string): IndexedEntry | PendingEntry | null {
    return this.#index.find(appId, id) ?? this.#queue.find(`${appId} ${id}`);
  }

  /** Counts an arrival. If it may be a repetition, only a later time is new. */
  #count(known: IndexedEntry | PendingEntry, count: number, lastArrivedMs: number, mayRepeat: boolean): void {
    if (mayRepeat && "segment" in known && lastArrivedMs <= known.lastArrivedMs) return;
    known.count += count;
    known.lastArrivedMs = Math.max(known.lastArrivedMs, lastArrivedMs);
    if ("segment" in known) this.#recounted.add(known.segment);
  }

  #isHereForSure(appId: AppId, id: string): boolean {
    const entry = this.#index.find(appId, id);
    return entry !== null && !this.#segments.isUnsure && this.#deletions.leaving(entry) === null;
  }

  #startWorking(): void {
    this.#working ??= this.#work();
  }

  async #work(): Promise<void> {
    while (!this.#queue.isEmpty || this.#unsure.length > 0 || !this.#deletions.isEmpty) {
      if (this.#unsure.length > 0) await this.#makeSure();
      if (!this.#queue.isEmpty) await this.#writeGroup();
      if (!this.#deletions.isEmpty) await this.#rewriteOne();
    }
    this.#working = null; // In the same turn, so that the next put starts new work.
  }

  async #makeSure(): Promise<void> {
    const failure = await failureOf(this.#segments.recover());
    for (const put of this.#unsure.splice(0)) put.settle(failure === null ? ok(undefined) : fail(failure));
  }

  async #writeGroup(): Promise<void> {
    const { names, entries, bytes } = this.#queue.nextGroup();
    const frames = entries.map(({ frame }) => frame);
    try {
      const { segment, firstSequence } = await this.#segments.append(frames, bytes);
      entries.forEach((entry, offset) => {
        const { lastArrivedMs, count } = entry;
        this.#add({ ...summaryOf(entry), lastArrivedMs, count, segment, sequence: firstSequence + offset });
      });
      this.#settle(names, entries, ok(undefined));
    } catch (error) {
      ignoreFileError(error);
      for (const { message, frame } of entries)
        this.#shares.give(holderOf(message), chargedBytes(frame.length));
      this.#settle(names, entries, fail(refusalOf(error as FileError)));
    }
  }

  #add(entry: IndexedEntry): void {
    this.#index.add(entry);
    entry.segment.live.set(entry.sequence, entry);
  }

  #settle(
    names: readonly string[],
    entries: readonly PendingEntry[],
    outcome: Result<void, ServiceError>,
  ): void {
    this.#queue.remove(names);
    for (const { puts } of entries) for (const put of puts) put.settle(outcome);
  }

  async #delete(entries: readonly IndexedEntry[]): Promise<Result<number, ServiceError>> {
    const failure = await this.#rewrite(Map.groupBy(entries, ({ segment }) => segment));
    return failure === null ? ok(entries.length) : fail(failure);
  }

  /** If the disk refuses, the counts on it stay behind until the next time. */
  async #writeCounts(segmentsMax: number): Promise<void> {
    const recounted = [...this.#recounted].slice(0, segmentsMax);
    await this.#rewrite(new Map(recounted.map((segment) => [segment, []])));
  }

  #rewrite(segments: ReadonlyMap<Segment, Iterable<IndexedEntry>>): Promise<ServiceError | null> {
    const rewritten = this.#deletions.add(segments);
    if (!this.#deletions.isEmpty) this.#startWorking();
    return rewritten;
  }

  async #rewriteOne(): Promise<void> {
    const { segment, doomed, settle } = this.#deletions.take();
    const gone = new Set([...doomed].map(({ sequence }) => sequence));
    const wanted = (sequence: number) => (gone.has(sequence) ? undefined : segment.live.get(sequence));
    this.#recounted.delete(segment);
    try {
      const { sequences } = await this.#segments.rewrite(segment, wanted);
      this.#forgetAllBut(segment, sequences);
      settle(null);
    } catch (error) {
      ignoreFileError(error);
      this.#recounted.add(segment);
      await this.#forgetGone(segment, doomed);
      settle(refusalOf(error as FileError));
    }
  }

  /** After a failure the disk may have an entry or not; those that it doesn't have are removed from memory. */
  async #forgetGone(segment: Segment, doomed: ReadonlySet<IndexedEntry>): Promise<void> {
    try {
      const sequences = await readSequences(this.#files, segment);
      for (const entry of doomed) if (!sequences.has(entry.sequence)) this.#forget(entry);
    } catch (error) {
      ignoreFileError(error); // The state of the disk is unknown, so the entries count as present.
    }
  }

  #forgetAllBut(segment: Segment, sequences: ReadonlySet<number>): void {
    for (const [sequence, entry] of segment.live) if (!sequences.has(sequence)) this.#forget(entry);
  }

  #forget(entry: IndexedEntry): void {
    if (!entry.segment.live.delete(entry.sequence)) return; // It was deleted otherwise.
    this.#index.delete(entry);
    this.#shares.give(holderOf(entry), entry.bytes);
  }
}

/** The app's owner in the scheduler. */
function ownerOf(appId: AppId): string {
  return `quarantine ${appId}`;
}

function summaryOf({ id, message, frame }: PreparedEntry) {
  return { ...toldOf(message), id, bodyBytes: message.body.length, bytes: chargedBytes(frame.length) };
}

const FULL_SHARES: Readonly<Record<FullShare, string>> = {
  key: "unusable input from this key fills its share of the quarantine",
  app: "unusable input from this app fills its share of the quarantine",
  all: "the quarantine is full",
};

function unavailable(message: string): ServiceError {
  return { kind: "unavailable", message, retryAfterSeconds: RETRY_SECONDS };
}

function refusalOf(error: FileError): ServiceError {
  return unavailable(isDiskFull(error) ? "the disk is full" : "the quarantine can't be written");
}

async function failureOf(work: Promise<void>): Promise<ServiceError | null> {
  try {
    await work;
    return null;
  } catch (error) {
    ignoreFileError(error);
    return refusalOf(error as FileError);
  }
}
