import type { DecidedEvent } from "../../geofences/watch.ts";
import type { WatchState } from "../../geofences/watch-state.ts";
import type { AppId, DeviceId, UserId } from "../../model/ids.ts";
import type { SqliteDatabase, SqliteRow } from "../../runtime/sqlite.ts";
import type { DecidedDevice, Stay } from "./device-decision.ts";
import { type DecisionStart, type DeviceSnapshot, type DeviceState, superfluous } from "./snapshots.ts";

/** Devices of a step. */
const PAGE_DEVICES = 128;

/** A device that is to be decided, from an instant on. */
export interface MarkedDevice {
  readonly appId: AppId;
  readonly deviceId: DeviceId;
  readonly fromMs: number;
}

/** A device inside a fence. */
export interface DeviceInside {
  readonly deviceId: DeviceId;
  /** Null if no event began the visit. */
  readonly enteredMs: number | null;
}

/**
 * What is known of devices near fences and of those with alerts, in the database of events. Writes belong into its
 * transactions.
 */
export class DeviceStates {
  readonly #database: SqliteDatabase;

  constructor(database: SqliteDatabase) {
    this.#database = database;
  }

  find(appId: AppId, deviceId: DeviceId): DeviceState | null {
    const row = this.#database
      .prepare("SELECT * FROM watched WHERE app_id = ? AND device_id = ?")
      .find(appId, deviceId);
    if (row === null) return null;
    return {
      ...snapshotOf(row),
      recordCount: row.record_count as number,
      pending: JSON.parse(row.pending as string) as DecidedEvent[],
    };
  }

  /** In the order of their times. */
  snapshots(appId: AppId, deviceId: DeviceId): DeviceSnapshot[] {
    const sql = "SELECT * FROM snapshots WHERE app_id = ? AND device_id = ? ORDER BY as_of_ms";
    return this.#database.prepare(sql).all(appId, deviceId).map(snapshotOf);
  }

  /** Writes what was decided from `start` on. Records older than `neededMs` do not change any more. */
  write(
    appId: AppId,
    deviceId: DeviceId,
    start: DecisionStart,
    { state, snapshots, inside, dueMs }: DecidedDevice,
    neededMs: number,
  ): void {
    const isFar = state.states.size === 0 && state.pending.length === 0;
    const later = "DELETE FROM snapshots WHERE app_id = ? AND device_id = ? AND as_of_ms > ?";
    const deleted = this.#database.prepare(later).run(appId, deviceId, start.asOfMs);
    for (const { sinceMs, asOfMs, number, states } of snapshots)
      this.#database
        .prepare("INSERT OR REPLACE INTO snapshots VALUES (?, ?, ?, ?, ?, ?)")
        .run(...[appId, deviceId, asOfMs, sinceMs, number, encodeStates(states)]);
    if (snapshots.length + deleted > 0 || isFar) {
      const isKept = this.#prune(appId, deviceId, neededMs);
      if (isFar && (!isKept || state.sinceMs < neededMs)) {
        this.forget(appId, deviceId);
        return;
      }
    }
    this.#database
      .prepare("INSERT OR REPLACE INTO watched VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?)")
      .run(
        ...[appId, deviceId, state.asOfMs, state.sinceMs, state.number, state.recordCount],
        ...[encodeStates(state.states), JSON.stringify(state.pending), dueMs],
      );
    this.#writeNear(appId, deviceId, state, inside);
  }

  /** Forgets all of a device. */
  forget(appId: AppId, deviceId: DeviceId): void {
    for (const table of ["snapshots", "watched", "near"])
      this.#database.prepare(`DELETE FROM ${table} WHERE app_id = ? AND device_id = ?`).run(appId, deviceId);
  }

  /** Some of the devices whose states name a user, of those behind a device; and the last one that was looked at. */
  ofUser(appId: AppId, userId: UserId, afterId: string): { deviceIds: DeviceId[]; endId: string | null } {
    const ids = this.#database
      .prepare(
        `SELECT device_id FROM watched WHERE app_id = ? AND device_id > ? ORDER BY 1 LIMIT ${PAGE_DEVICES}`,
      )
      .all(appId, afterId);
    const endId = (ids.at(-1)?.device_id ?? null) as string | null;
    if (endId === null) return { deviceIds: [], endId };
    const member = `"userId":${JSON.stringify(userId)}`;
    const rows = this.#database
      .prepare(
        `SELECT device_id FROM watched WHERE app_id = ?1 AND device_id > ?2 AND device_id <= ?3
         AND instr(states || pending, ?4) > 0
       UNION SELECT device_id FROM snapshots WHERE app_id = ?1 AND device_id > ?2 AND device_id <= ?3
         AND instr(states, ?4) > 0`,
      )
      .all(appId, afterId, endId, member);
    return { deviceIds: rows.map((row) => row.device_id as DeviceId), endId };
  }

  /** Devices whose next event the clock has reached. */
  due(nowMs: number, limit: number): MarkedDevice[] {
    const sql = "SELECT app_id, device_id FROM watched WHERE due_ms <= ? ORDER BY due_ms LIMIT ?";
    return this.#database
      .prepare(sql)
      .all(nowMs, limit)
      .map((row) => ({
        appId: row.app_id as AppId,
        deviceId: row.device_id as DeviceId,
        fromMs: Number.POSITIVE_INFINITY,
      }));
  }

  /** At most `limit` devices with a state for a fence or an alert, by their ids, behind one. */
  near(appId: AppId, watchId: string, afterId: string, limit: number): DeviceId[] {
    const sql =
      "SELECT device_id FROM near WHERE app_id = ? AND watch_id = ? AND device_id > ? ORDER BY 1 LIMIT ?";
    const rows = this.#database.prepare(sql).all(appId, watchId, afterId, limit);
    return rows.map((row) => row.device_id as DeviceId);
  }

  /** At most `limit` devices inside of a fence, by their ids, behind the first `offset` ones. */
  inside(appId: AppId, watchId: string, offset: number, limit: number): DeviceInside[] {
    const sql = `SELECT device_id, entered_ms FROM near
      WHERE app_id = ? AND watch_id = ? AND is_inside = 1 ORDER BY device_id LIMIT ? OFFSET ?`;
    const rows = this.#database.prepare(sql).all(appId, watchId, limit, offset);
    return rows.map((row) => ({
      deviceId: row.device_id as DeviceId,
      enteredMs: row.entered_ms as number | null,
    }));
  }

  /** Keeps marks, in place of the entries of the log that made them. */
  keepMark({ appId, deviceId, fromMs }: MarkedDevice): void {
    const sql = `INSERT INTO marks VALUES (?, ?, ?)
      ON CONFLICT DO UPDATE SET from_ms = min(from_ms, excluded.from_ms)`;
    this.#database.prepare(sql).run(appId, deviceId, fromMs);
  }

  /** At most `limit` of the marks that were kept. */
  marks(limit: number): MarkedDevice[] {
    const rows = this.#database.prepare("SELECT * FROM marks LIMIT ?").all(limit);
    return rows.map((row) => ({
      appId: row.app_id as AppId,
      deviceId: row.device_id as DeviceId,
      fromMs: row.from_ms as number,
    }));
  }

  /**
   * Drops the mark of a device, unless it is about records from before an instant; `restMs` is what it is to be about
   * from now on, `Infinity` if there is nothing.
   */
  dropMark(appId: AppId, deviceId: DeviceId, fromMs: number, restMs: number): void {
    const sql =
      restMs === Infinity
        ? "DELETE FROM marks WHERE app_id = ? AND device_id = ? AND from_ms >= ?"
        : "UPDATE marks SET from_ms = ?4 WHERE app_id = ?1 AND device_id = ?2 AND from_ms >= ?3";
    this.#database.prepare(sql).run(...[appId, deviceId, fromMs], ...(restMs === Infinity ? [] : [restMs]));
  }

  /** Whether any snapshots are left. */
  #prune(appId: AppId, deviceId: DeviceId, neededMs: number): boolean {
    const sql = "SELECT as_of_ms, number FROM snapshots WHERE app_id = ? AND device_id = ? ORDER BY as_of_ms";
    const rows = this.#database.prepare(sql).all(appId, deviceId);
    const keys = rows.map((row) => ({ asOfMs: row.as_of_ms as number, number: row.number as number }));
    for (const { asOfMs } of superfluous(keys, neededMs))
      this.#database
        .prepare("DELETE FROM snapshots WHERE app_id = ? AND device_id = ? AND as_of_ms = ?")
        .run(...[appId, deviceId, asOfMs]);
    return keys.length > 0;
  }

  /** Writes which fences the device is near, as far as that changed: mostly it did not. */
  #writeNear(appId: AppId, deviceId: DeviceId, { states }: DeviceState, inside: readonly Stay[]): void {
    const rows = this.#database
      .prepare("SELECT * FROM near WHERE app_id = ? AND device_id = ?")
      .all(appId, deviceId);
    const known = new Map(rows.map((row) => [row.watch_id as string, row]));
    const stays = new Map(inside.map((stay) => [stay.watchId, stay]));
    for (const watchId of states.keys()) {
      const before = known.get(watchId);
      known.delete(watchId);
      const isInside = Number(stays.has(watchId));
      const enteredMs = stays.get(watchId)?.enteredMs ?? null;
      if (before?.is_inside === isInside && before.entered_ms === enteredMs) continue;
      this.#database
        .prepare("INSERT OR REPLACE INTO near VALUES (?, ?, ?, ?, ?)")
        .run(...[appId, watchId, deviceId, isInside, enteredMs]);
    }
    for (const watchId of known.keys())
      this.#database
        .prepare("DELETE FROM near WHERE app_id = ? AND watch_id = ? AND device_id = ?")
        .run(...[appId, watchId, deviceId]);
  }
}

function snapshotOf(row: SqliteRow): DeviceSnapshot {
  return {
    sinceMs: row.since_ms as number,
    asOfMs: row.as_of_ms as number,
    number: row.number as number,
    states: new Map(Object.entries(JSON.parse(row.states as string) as Record<string, WatchState>)),
  };
}

function encodeStates(states: DeviceSnapshot["states"]): string {
  return JSON.stringify(Object.fromEntries(states));
}
