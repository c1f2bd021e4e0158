import { firstEventId } from "../../geofences/event-id.ts";
import type { EventKind } from "../../geofences/watch.ts";
import { assert } from "../../lib/assert.ts";
import { type Erasure, isErased } from "../../model/erasure.ts";
import type { AppId, DeviceId } from "../../model/ids.ts";
import type { Order, TimeRange } from "../../model/time/range.ts";
import type { SqliteDatabase, SqliteRow, SqliteStatement, SqliteValue } from "../../runtime/sqlite.ts";
import { prepareEvents } from "./event-schema.ts";
import {
  EVENT_COLUMNS,
  erasedEvents,
  type NewRevision,
  type StoredEvent,
  storedEventOf,
  valuesOf,
} from "./stored-event.ts";

/** Which events `list` reads, of all in the range, of a device, or of a watch. */
export interface EventScope {
  readonly range: TimeRange;
  readonly subject: { readonly deviceId: DeviceId } | { readonly watchId: string } | null;
}

/** Told which apps have new events. */
export type AppendListener = (appIds: ReadonlySet<AppId>) => void;

/** The erasures of an app of which files may still have something. What they destroy is not shown, nor stored again. */
export type ErasuresOf = (appId: AppId) => readonly Erasure[];

const INSERT = `INSERT OR REPLACE INTO events (seq, ${EVENT_COLUMNS.join()})
  VALUES (?, ${EVENT_COLUMNS.map(() => "?").join()})`;

/**
 * The events of all apps, the last revision of each, in a database (`event-schema.ts`). Every call holds the event
 * loop, so callers ask for some hundred rows at a time.
 */
export class EventStore {
  /** For the states that are written together with events. */
  readonly database: SqliteDatabase;
  readonly #erasuresOf: ErasuresOf;
  /** What was stored since the start. */
  readonly counts = new Map<EventKind, Record<"made" | "changed" | "withdrawn", number>>();
  readonly #listeners = new Set<AppendListener>();
  #checkpoints: { noteCommit(): void; stop(): void } | null = null;
  /** Null if it must be read. */
  #lastSeq: number | null = null;
  #isWriting = false;
  /** What the transaction under way has stored. */
  #stored: NewRevision[] = [];
  #removals = 0;

  private constructor(database: SqliteDatabase, erasuresOf: ErasuresOf) {
    this.database = database;
    this.#erasuresOf = erasuresOf;
  }

  /** `path` is for messages. */
  static open(database: SqliteDatabase, path: string, erasuresOf: ErasuresOf = () => []): EventStore {
    prepareEvents(database, path);
    return new EventStore(database, erasuresOf);
  }

  /** Writes events, states and position in one transaction, and tells listeners once it is committed. */
  transact(write: () => void): void {
    assert(!this.#isWriting, "one transaction is under way at a time");
    this.#isWriting = true;
    this.#stored = [];
    try {
      this.database.transact(write);
    } catch (error) {
      this.#lastSeq = null;
      throw error;
    } finally {
      this.#isWriting = false;
    }
    this.#checkpoints?.noteCommit();
    for (const revision of this.#stored) this.#count(revision);
    if (this.#stored.length === 0) return;
    const appIds = new Set(this.#stored.map(({ appId }) => appId));
    for (const listener of this.#listeners) listener(appIds);
  }

  /** Replaces the last revision of the event, which an erasure may have destroyed meanwhile. */
  put(revision: NewRevision, seqMin = revision.madeMs): void {
    assert(this.#isWriting, "events are written in transactions");
    if (this.isErased(revision)) return;
    const seq = Math.max(this.lastSeq() + 1, seqMin);
    this.database.prepare(INSERT).run(seq, ...valuesOf(revision));
    this.#lastSeq = seq;
    this.#stored.push(revision);
  }

  #count({ event: { kind }, revision, isWithdrawn }: NewRevision): void {
    const change = isWithdrawn ? "withdrawn" : revision === 1 ? "made" : "changed";
    const counts = this.counts.get(kind) ?? { made: 0, changed: 0, withdrawn: 0 };
    counts[change]++;
    this.counts.set(kind, counts);
  }

  /** Rises whenever rows are deleted: what was read before may have some of them. */
  get removals(): number {
    return this.#removals;
  }

  /** Runs a statement that deletes, once for each set of values. Returns how many rows are gone. */
  remove(statement: SqliteStatement, valueSets: readonly (readonly SqliteValue[])[]): number {
    let count = 0;
    this.transact(() => {
      for (const values of valueSets) count += statement.run(...values);
    });
    this.#removals++;
    return count;
  }

  /** The last revision, also of an event that is withdrawn; null if an erasure destroys it. */
  find(appId: AppId, id: string): StoredEvent | null {
    const row = this.database.prepare("SELECT * FROM events WHERE app_id = ? AND id = ?").find(appId, id);
    const stored = row === null ? null : storedEventOf(row);
    return stored === null || this.isErased(stored) ? null : stored;
  }

  /**
   * At most `limit` events in the order of their times, withdrawn ones too: those behind the one with the id `afterId`,
   * which need not exist any more, or the first ones. None only at the end.
   */
  list(
    appId: AppId,
    { range, subject }: EventScope,
    order: Order,
    afterId: string | null,
    limit: number,
  ): StoredEvent[] {
    // An id that `firstEventId` makes is shorter than those of events, and sorts before them.
    const [start, end] = [firstEventId(range.startMs), firstEventId(range.endMs)];
    const [index, condition, values] = accessOf(subject);
    const sql = `SELECT * FROM events INDEXED BY ${index}
      WHERE app_id = ?${condition} AND id > ? AND id < ? ORDER BY id ${order} LIMIT ?`;
    return this.#shown(limit, (last) => {
      const after = last?.event.id ?? afterId;
      const bounds = order === "asc" ? [after ?? start, end] : [start, after ?? end];
      return this.database.prepare(sql).all(appId, ...values, ...bounds, limit);
    });
  }

  /**
   * At most `limit` revisions behind this position, in the order in which they were stored, withdrawn ones too. None
   * only at the end.
   */
  after(appId: AppId | null, seq: number, limit: number): StoredEvent[] {
    return this.#shown(limit, (last) => {
      const from = last?.seq ?? seq;
      if (appId === null)
        return this.database
          .prepare("SELECT * FROM events WHERE seq > ? ORDER BY seq LIMIT ?")
          .all(from, limit);
      const sql = `SELECT * FROM events INDEXED BY events_by_app
        WHERE app_id = ? AND seq > ? ORDER BY seq LIMIT ?`;
      return this.database.prepare(sql).all(appId, from, limit);
    });
  }

  /** The first page with something that no erasure destroys; `next` reads the page behind an event. */
  #shown(limit: number, next: (last: StoredEvent | null) => readonly SqliteRow[]): StoredEvent[] {
    for (let last: StoredEvent | null = null; ; ) {
      const events: StoredEvent[] = next(last).map(storedEventOf);
      const rest = events.filter((event) => !this.isErased(event));
      if (rest.length > 0 || events.length < limit) return rest;
      last = events.at(-1)!;
    }
  }

  /** Whether an erasure destroys it whose files are not all erased. */
  isErased({ appId, event }: NewRevision): boolean {
    const { deviceId, userId, timestampMs } = event;
    return this.#erasuresOf(appId).some((erasure) =>
      isErased(erasedEvents(erasure), deviceId, userId, timestampMs),
    );
  }

  /** The position of the last revision that was stored, also if it is no more; 0 before the first. */
  lastSeq(): number {
    this.#lastSeq ??= Number(
      this.database.prepare("SELECT seq FROM sqlite_sequence WHERE name = 'events'").find()?.seq ?? 0,
    );
    return this.#lastSeq;
  }

  /**
   * Tells the end of the log, once that is open. A new database begins there, and so does one that is ahead of a log
   * that has lost its end.
   */
  begin(lastSequence: number): void {
    if (this.position() > lastSequence) this.transact(() => this.setPosition(lastSequence));
  }

  /** Whether it was not told yet where it begins. */
  get isNew(): boolean {
    return this.position() === Number.MAX_SAFE_INTEGER;
  }

  /** The position of the last revision of an app that is still there; 0 if there is none. */
  lastSeqOf(appId: AppId): number {
    const sql = "SELECT seq FROM events INDEXED BY events_by_app WHERE app_id = ? ORDER BY seq DESC LIMIT 1";
    return Number(this.database.prepare(sql).find(appId)?.seq ?? 0);
  }

  /** The sequence of the log up to which all is decided. Before `begin`, that of a new database is very large. */
  position(): number {
    return Number(this.database.prepare("SELECT position FROM progress").find()?.position);
  }

  setPosition(sequence: number): void {
    assert(this.#isWriting, "the position is written in transactions");
    this.database.prepare("UPDATE progress SET position = ?").run(sequence);
  }

  /** Resolves once all that was written would outlast a power failure. */
  sync(): Promise<void> {
    return this.database.sync();
  }

  /** Calls the listener after each transaction that stored events. The result ends that. */
  onAppended(listener: AppendListener): () => void {
    this.#listeners.add(listener);
    return () => void this.#listeners.delete(listener);
  }

  /**
   * Moves all transactions into the database, synced, and empties the file beside it, which has what was deleted
   * before. False if a command that reads the database keeps that from being done.
   */
  checkpoint(): boolean {
    return this.database.prepare("PRAGMA wal_checkpoint(TRUNCATE)").find()?.busy === 0;
  }

  /** The pages of the file beside the database, and how many of them wait to be moved into it. */
  pages(): { readonly written: number; readonly waiting: number } {
    const { log, checkpointed } = this.database.prepare("PRAGMA wal_checkpoint(NOOP)").find()!;
    return { written: Number(log), waiting: Number(log) - Number(checkpointed) };
  }

  /** Moves what waits, so that the next transaction begins the file beside the database anew. */
  moveWaiting(): void {
    this.database.run("PRAGMA wal_checkpoint(PASSIVE)");
  }

  /** Within a transaction SQLite moves pages into the database only if as many wait. */
  checkpointAlone(pages: number): void {
    this.database.run(`PRAGMA wal_autocheckpoint = ${pages}`);
  }

  /** What moves them otherwise is told of each transaction. */
  checkpointBy(checkpoints: { noteCommit(): void; stop(): void }): void {
    this.#checkpoints = checkpoints;
  }

  close(): void {
    this.#checkpoints?.stop();
    this.database.close();
  }
}

function accessOf(
  subject: EventScope["subject"],
): readonly [index: string, condition: string, values: readonly string[]] {
  if (subject === null) return ["events_by_id", "", []];
  if ("deviceId" in subject) return ["events_by_device", " AND device_id = ?", [subject.deviceId]];
  return ["events_by_watch", " AND watch_id = ?", [subject.watchId]];
}
