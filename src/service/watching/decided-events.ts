import { isDeepStrictEqual } from "node:util";
import type { AppId, DeviceId } from "../../model/ids.ts";
import type { SqliteDatabase, SqliteRow } from "../../runtime/sqlite.ts";
import type { EventStore } from "./event-store.ts";
import {
  EVENT_COLUMNS,
  type NewRevision,
  type StoredEvent,
  storedEventOf,
  valuesOf,
} from "./stored-event.ts";

/*
 * What this process has decided. A single process stores that as events. The nodes of a cluster decide alike, but not
 * at the same moments: one sees two reports where another sees one after the other. So one of them publishes what it
 * has decided, by entries of the log, and all nodes store what is published: the same events, with the same revisions,
 * in the same order.
 *
 * What a node has decided otherwise than it is published, or before, lies in a table of its own. The node that
 * publishes takes it from there; the others mostly see it published a moment later. If a node dies that published, the
 * next one has what is missing.
 */

const INSERT = `INSERT OR REPLACE INTO unpublished (${EVENT_COLUMNS.join()})
  VALUES (${EVENT_COLUMNS.map(() => "?").join()})`;

/** Selects events of a device that records of a time decided and that are not withdrawn: those of a single process. */
function sqlOf(columns: string, until: string): string {
  return `SELECT ${columns} FROM events INDEXED BY events_by_decision WHERE ${ofTime(until)}`;
}

/** Those of a node: what it has decided otherwise than it is published takes the place of that. */
function sqlOfNode(columns: string, until: string): string {
  return `${sqlOf(columns, until)} AND NOT EXISTS
      (SELECT 1 FROM unpublished AS own WHERE own.app_id = events.app_id AND own.id = events.id)
    UNION ALL SELECT ${columns} FROM unpublished INDEXED BY unpublished_by_decision WHERE ${ofTime(until)}`;
}

function ofTime(until: string): string {
  return `app_id = ?1 AND device_id = ?2 AND decided_ms > ?3 AND decided_ms ${until} ?4 AND is_withdrawn = 0`;
}

export interface DecidedCount {
  readonly count: number;
  readonly lastMs: number;
}

/** A revision that one node publishes, with the place that it has if nothing else was published meanwhile. */
export type Publication = NewRevision & { readonly seq: number };

export class DecidedEvents {
  /** Called after something was decided that is to be published. */
  onUnpublished = () => {};
  readonly #events: EventStore;
  readonly #database: SqliteDatabase;
  readonly #isShared: boolean;

  /** `isShared` says that this process is a node of a cluster. */
  constructor(events: EventStore, isShared: boolean) {
    this.#events = events;
    this.#database = events.database;
    this.#isShared = isShared;
  }

  /**
   * Events of a device that are not withdrawn and were decided by records after the first instant and up to the second
   * one; with `Infinity` also those that the clock decided.
   */
  within(appId: AppId, deviceId: DeviceId, afterMs: number, untilMs: number): StoredEvent[] {
    const sql = (this.#isShared ? sqlOfNode : sqlOf)("*", "<=");
    return this.#database.prepare(sql).all(appId, deviceId, afterMs, untilMs).map(storedEventOf);
  }

  /**
   * How many of these there are that records decided, at most `limit`, and when the record of the last of them was;
   * `Infinity` if there are fewer.
   */
  count(appId: AppId, deviceId: DeviceId, afterMs: number, limit: number): DecidedCount {
    const decided = (this.#isShared ? sqlOfNode : sqlOf)("decided_ms", "<");
    const sql = `SELECT count(*) AS count, max(decided_ms) AS last_ms FROM (${decided} ORDER BY decided_ms LIMIT ?5)`;
    const row = this.#database.prepare(sql).find(appId, deviceId, afterMs, Infinity, limit)!;
    const count = Number(row.count);
    return { count, lastMs: count < limit ? Infinity : Number(row.last_ms) };
  }

  /** Stores what was decided, within a transaction. */
  write(revision: NewRevision): void {
    if (!this.#isShared) {
      this.#events.put(revision);
      return;
    }
    const { appId, event, isWithdrawn, decidedMs } = revision;
    const published = this.#events.find(appId, event.id);
    const isAlike = published === null ? isWithdrawn : isSame(published, revision);
    this.#remove(appId, event.id);
    if (isAlike) this.#moveStored(appId, event.id, decidedMs);
    else {
      this.#database.prepare(INSERT).run(...valuesOf(revision));
      queueMicrotask(this.onUnpublished); // Once the transaction is committed.
    }
  }

  /** Notes that another record decided an event, which stays as it is. */
  move(appId: AppId, id: string, decidedMs: number): void {
    const sql = "UPDATE unpublished SET decided_ms = ? WHERE app_id = ? AND id = ?";
    const isOwn = this.#isShared && this.#database.prepare(sql).run(decidedMs, appId, id) > 0;
    if (!isOwn) this.#moveStored(appId, id, decidedMs);
  }

  #moveStored(appId: AppId, id: string, decidedMs: number): void {
    const sql = "UPDATE events SET decided_ms = ? WHERE app_id = ? AND id = ?";
    this.#database.prepare(sql).run(decidedMs, appId, id);
  }

  #remove(appId: AppId, id: string): void {
    this.#database.prepare("DELETE FROM unpublished WHERE app_id = ? AND id = ?").run(appId, id);
  }

  /** At most `limit` events that are decided and not published, by their numbers, which are behind one. */
  unpublished(
    afterNumber: number,
    limit: number,
  ): { readonly number: number; readonly revision: NewRevision }[] {
    const sql = "SELECT * FROM unpublished WHERE number > ? ORDER BY number LIMIT ?";
    return this.#database
      .prepare(sql)
      .all(afterNumber, limit)
      .map((row) => ({ number: row.number as number, revision: storedEventOf(row) }));
  }

  /**
   * Stores what a node has published, within a transaction: each time with the same result, also if an earlier
   * publication comes late. Returns whether this process has decided it so; if not, it must decide the device anew.
   */
  publish(publication: Publication): boolean {
    const { appId, event, seq, decidedMs } = publication;
    const published = this.#events.find(appId, event.id);
    const own = this.#find(appId, event.id);
    const isKnown = published !== null && isSame(published, publication);
    const isAgreed = own === null ? isKnown : isSame(own, publication);
    this.#remove(appId, event.id);
    const moved = own !== null && isAgreed ? own.decidedMs : decidedMs;
    if (!isKnown) {
      const revision = Math.max((published?.revision ?? 0) + 1, publication.revision);
      this.#events.put({ ...publication, revision, decidedMs: moved }, seq);
    } else if (own !== null) this.#moveStored(appId, event.id, moved);
    return isAgreed;
  }

  #find(appId: AppId, id: string): StoredEvent | null {
    const sql = "SELECT * FROM unpublished WHERE app_id = ? AND id = ?";
    const row: SqliteRow | null = this.#database.prepare(sql).find(appId, id);
    return row === null ? null : storedEventOf(row);
  }
}

function isSame(one: NewRevision, other: NewRevision): boolean {
  return one.isWithdrawn === other.isWithdrawn && isDeepStrictEqual(one.event, other.event);
}
