import type { WebhookStore } from "../../hot/webhook-store.ts";
import { nextTurn } from "../../lib/schedule/timers.ts";
import type { AppId, DeviceId, UserId } from "../../model/ids.ts";
import type { DeliveriesEntry } from "../../model/webhooks/deliveries-entry.ts";
import type { Delivery, Outcome, SavedCursor } from "../../model/webhooks/delivery.ts";
import type { SqliteDatabase, SqliteRow } from "../../runtime/sqlite.ts";

/*
 * What is kept of deliveries, in the database of events: where each webhook is, and its last requests. Both may be lost
 * without losing an event: a webhook without a cursor begins with the first event made since it was.
 */
const SCHEMA = `
CREATE TABLE IF NOT EXISTS webhook_cursors (
  webhook_id TEXT PRIMARY KEY,
  seq INTEGER NOT NULL,
  failures INTEGER NOT NULL,
  next_ms INTEGER NOT NULL
) STRICT, WITHOUT ROWID;
CREATE TABLE IF NOT EXISTS webhook_deliveries (
  number INTEGER PRIMARY KEY AUTOINCREMENT,
  webhook_id TEXT NOT NULL,
  app_id TEXT NOT NULL,
  event_id TEXT NOT NULL,
  revision INTEGER NOT NULL,
  device_id TEXT NOT NULL,
  user_id TEXT NOT NULL,
  at_ms INTEGER NOT NULL,
  outcome TEXT NOT NULL,
  status INTEGER,
  latency_ms INTEGER NOT NULL,
  answer TEXT NOT NULL
) STRICT;
CREATE INDEX IF NOT EXISTS webhook_deliveries_by_webhook ON webhook_deliveries (webhook_id, number);
CREATE INDEX IF NOT EXISTS webhook_deliveries_by_device ON webhook_deliveries (app_id, device_id);
CREATE INDEX IF NOT EXISTS webhook_deliveries_by_user ON webhook_deliveries (app_id, user_id);
`;

/** Requests of a webhook that are kept. */
export const DELIVERIES_MAX = 1000;

/** New requests of a webhook after which those beyond the bound are deleted. */
const TRIM_ROWS = 50;

/** Rows that are deleted at once. */
const STEP_ROWS = 500;

export class DeliveryStore {
  readonly #database: SqliteDatabase;
  /** New requests since the last trim. */
  readonly #newOf = new Map<string, number>();

  constructor(database: SqliteDatabase) {
    this.#database = database;
    database.run(SCHEMA);
  }

  findCursor(webhookId: string): SavedCursor | null {
    const row = this.#database.prepare("SELECT * FROM webhook_cursors WHERE webhook_id = ?").find(webhookId);
    if (row === null) return null;
    const [failures, nextMs] = [row.failures as number, row.next_ms as number];
    return { webhookId, seq: row.seq as number, failing: failures === 0 ? null : { failures, nextMs } };
  }

  /** The position behind which are the revisions that were made at this time or later. They are made in order. */
  positionBefore(appId: AppId, madeMs: number, lastSeq: number): number {
    const sql = `SELECT seq, made_ms FROM events INDEXED BY events_by_app
      WHERE app_id = ? AND seq > ? ORDER BY seq LIMIT 1`;
    let [from, to] = [0, lastSeq];
    while (from < to) {
      const middle = Math.floor((from + to) / 2);
      const next = this.#database.prepare(sql).find(appId, middle);
      if (next === null || (next.made_ms as number) >= madeMs) to = middle;
      else from = next.seq as number;
    }
    return from;
  }

  /** At most some hundred at once. */
  save(cursors: readonly SavedCursor[], deliveries: readonly Delivery[]): void {
    this.#database.transact(() => this.write(cursors, deliveries));
  }

  /** Like `save()`, within a transaction of the caller. */
  write(cursors: readonly SavedCursor[], deliveries: readonly Delivery[]): void {
    const sql = "INSERT OR REPLACE INTO webhook_cursors VALUES (?, ?, ?, ?)";
    for (const { webhookId, seq, failing } of cursors)
      this.#database
        .prepare(sql)
        .run(webhookId, seq, failing?.failures ?? 0, Math.round(failing?.nextMs ?? 0));
    for (const delivery of deliveries) this.#add(delivery);
    for (const { webhookId } of deliveries) this.#countNew(webhookId);
  }

  /** Writes what an entry of the log says, within a transaction: of webhooks and events that are still there. */
  writeShared(
    { deliveries }: DeliveriesEntry,
    cursors: readonly SavedCursor[],
    webhooks: Pick<WebhookStore, "all">,
  ): void {
    const known = new Set(Array.from(webhooks.all(), ({ id }) => id));
    const findEvent = this.#database.prepare("SELECT 1 FROM events WHERE app_id = ? AND id = ?");
    const isThere = ({ webhookId, appId, eventId }: Delivery) =>
      known.has(webhookId) && (eventId === null || findEvent.find(appId, eventId) !== null);
    this.write(
      cursors.filter(({ webhookId }) => known.has(webhookId)),
      deliveries.filter(isThere),
    );
  }

  #add(delivery: Delivery): void {
    const { webhookId, appId, eventId, revision, deviceId, userId, atMs, outcome, status } = delivery;
    this.#database
      .prepare(
        `INSERT INTO webhook_deliveries (webhook_id, app_id, event_id, revision, device_id, user_id, at_ms, outcome,
        status, latency_ms, answer) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)`,
      )
      .run(
        ...[webhookId, appId, eventId ?? "", revision, deviceId ?? "", userId ?? "", atMs, outcome],
        ...[status, Math.round(delivery.latencyMs), delivery.answer],
      );
  }

  #countNew(webhookId: string): void {
    const count = (this.#newOf.get(webhookId) ?? 0) + 1;
    this.#newOf.set(webhookId, count % TRIM_ROWS);
    if (count < TRIM_ROWS) return;
    this.#database
      .prepare(
        `DELETE FROM webhook_deliveries WHERE webhook_id = ?1 AND number <= (SELECT number FROM webhook_deliveries
        WHERE webhook_id = ?1 ORDER BY number DESC LIMIT 1 OFFSET ${DELIVERIES_MAX})`,
      )
      .run(webhookId);
  }

  /** The last requests of a webhook, newest first. */
  list(webhookId: string, offset: number, limit: number): Delivery[] {
    return this.#database
      .prepare("SELECT * FROM webhook_deliveries WHERE webhook_id = ? ORDER BY number DESC LIMIT ? OFFSET ?")
      .all(webhookId, Math.max(0, Math.min(limit, DELIVERIES_MAX - offset)), offset)
      .map(deliveryOf);
  }

  count(webhookId: string): number {
    const sql = "SELECT count(*) AS count FROM webhook_deliveries WHERE webhook_id = ?";
    return Math.min(Number(this.#database.prepare(sql).find(webhookId)?.count), DELIVERIES_MAX);
  }

  /** Deletes a part of what is kept of a webhook; false once nothing is left. */
  forgetWebhook(webhookId: string): boolean {
    this.#database.prepare("DELETE FROM webhook_cursors WHERE webhook_id = ?").run(webhookId);
    this.#newOf.delete(webhookId);
    return this.#delete("webhook_id = ?", webhookId);
  }

  /** Deletes a part of the requests about a device, or about a user; false once nothing is left. */
  forgetSubject(
    appId: AppId,
    subject: { readonly deviceId: DeviceId } | { readonly userId: UserId },
  ): boolean {
    return "deviceId" in subject
      ? this.#delete("app_id = ? AND device_id = ?", appId, subject.deviceId)
      : this.#delete("app_id = ? AND user_id = ?", appId, subject.userId);
  }

  #delete(condition: string, ...values: readonly string[]): boolean {
    const sql = `DELETE FROM webhook_deliveries WHERE number IN
      (SELECT number FROM webhook_deliveries WHERE ${condition} LIMIT ${STEP_ROWS})`;
    return this.#database.prepare(sql).run(...values) === STEP_ROWS;
  }
}

/** A user, or devices. */
export interface ErasedSubject {
  readonly appId: AppId;
  readonly deviceIds: readonly DeviceId[];
  readonly userId: UserId | null;
}

/** Deletes the requests about an erased subject. */
export async function forgetSubject(store: DeliveryStore, erased: ErasedSubject): Promise<void> {
  const { appId, deviceIds, userId } = erased;
  const subjects = userId !== null ? [{ userId }] : deviceIds.map((deviceId) => ({ deviceId }));
  for (const subject of subjects) while (store.forgetSubject(appId, subject)) await nextTurn();
}

function deliveryOf(row: SqliteRow): Delivery {
  return {
    webhookId: row.webhook_id as string,
    appId: row.app_id as AppId,
    eventId: row.event_id === "" ? null : (row.event_id as string),
    revision: row.revision as number,
    deviceId: row.device_id === "" ? null : (row.device_id as DeviceId),
    userId: row.user_id === "" ? null : (row.user_id as UserId),
    atMs: row.at_ms as number,
    outcome: row.outcome as Outcome,
    status: row.status as number | null,
    latencyMs: row.latency_ms as number,
    answer: row.answer as string,
  };
}
