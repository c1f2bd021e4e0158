import { firstEventId } from "../../geofences/event-id.ts";
import type { Steps } from "../../lib/schedule/steps.ts";
import type { Erasure } from "../../model/erasure.ts";
import type { DeviceId } from "../../model/ids.ts";
import type { SqliteStatement } from "../../runtime/sqlite.ts";
import { DeviceStates } from "./device-states.ts";
import type { EventStore } from "./event-store.ts";
import { erasedEvents } from "./stored-event.ts";

/* Events that go: with what an erasure destroys, and with records that are past the retention. */

/** Rows that a step reads or deletes, each in six places of the database: some milliseconds. */
const STEP_ROWS = 100;

/**
 * Deletes what an erasure destroys, withdrawn events too. Returns how many those were. Nothing is left to decide of
 * devices that are `gone`.
 */
export function* eraseEvents(
  store: EventStore,
  erasure: Erasure,
  gone: readonly DeviceId[] = [],
): Steps<number> {
  yield* eraseStates(store, erasure, gone);
  const { appId, deviceIds, userId, range } = erasedEvents(erasure);
  const bounds = [firstEventId(range.startMs), firstEventId(range.endMs)] as const;
  const [subject, ids] = userId === null ? ["device_id", deviceIds] : ["user_id", [userId]];
  const unpublished = store.database.prepare(`DELETE FROM unpublished WHERE number IN (
    SELECT number FROM unpublished WHERE app_id = ? AND ${subject} = ? AND id > ? AND id < ? LIMIT ${STEP_ROWS})`);
  for (const id of ids) yield* deleteInSteps(store, unpublished, [appId, id, ...bounds]);
  if (userId === null) {
    const ofDevice = store.database.prepare(`DELETE FROM events WHERE seq IN (
      SELECT seq FROM events INDEXED BY events_by_device
      WHERE app_id = ? AND device_id = ? AND id > ? AND id < ? LIMIT ${STEP_ROWS})`);
    let count = 0;
    for (const deviceId of deviceIds)
      count += yield* deleteInSteps(store, ofDevice, [appId, deviceId, ...bounds]);
    return count;
  }
  const next = store.database.prepare(`SELECT seq, id, user_id
    FROM events INDEXED BY events_by_id WHERE app_id = ? AND id > ? AND id < ? ORDER BY id LIMIT ${STEP_ROWS}`);
  const remove = store.database.prepare("DELETE FROM events WHERE seq = ?");
  let count = 0;
  for (let [from, end] = bounds as readonly [string, string]; ; yield) {
    const rows = next.all(appId, from, end);
    const erased = rows.filter((row) => row.user_id === userId);
    count += store.remove(
      remove,
      erased.map(({ seq }) => [seq!]),
    );
    if (rows.length < STEP_ROWS) return count;
    from = String(rows.at(-1)!.id);
  }
}

/** Forgets the states of devices that may tell something of the subject. They follow from the records that are left. */
function* eraseStates(
  store: EventStore,
  { appId, deviceIds, userId }: Erasure,
  gone: readonly DeviceId[],
): Steps<void> {
  const states = new DeviceStates(store.database);
  store.transact(() => {
    for (const deviceId of gone) states.dropMark(appId, deviceId, Number.NEGATIVE_INFINITY, Infinity);
  });
  const forget = (ids: readonly DeviceId[]) =>
    store.transact(() => {
      for (const deviceId of ids) states.forget(appId, deviceId);
    });
  if (userId === null) {
    forget(deviceIds);
    return;
  }
  for (let afterId: string | null = ""; afterId !== null; yield) {
    const { deviceIds: named, endId } = states.ofUser(appId, userId, afterId);
    forget(named);
    afterId = endId;
  }
}

/** Deletes events from before an instant. Returns how many those were. */
export function* forgetEvents(store: EventStore, beforeMs: number): Steps<number> {
  const unpublished = store.database.prepare(`DELETE FROM unpublished WHERE number IN (
    SELECT number FROM unpublished WHERE id < ? LIMIT ${STEP_ROWS})`);
  yield* deleteInSteps(store, unpublished, [firstEventId(beforeMs)]);
  const nextApp = store.database.prepare("SELECT min(app_id) AS app_id FROM events WHERE app_id > ?");
  const before = store.database.prepare(`DELETE FROM events WHERE seq IN (
    SELECT seq FROM events INDEXED BY events_by_id WHERE app_id = ? AND id < ? LIMIT ${STEP_ROWS})`);
  let count = 0;
  for (
    let appId = nextApp.find("")?.app_id ?? null;
    appId !== null;
    appId = nextApp.find(appId)?.app_id ?? null
  )
    count += yield* deleteInSteps(store, before, [appId as string, firstEventId(beforeMs)]);
  return count;
}

function* deleteInSteps(
  store: EventStore,
  statement: SqliteStatement,
  values: readonly string[],
): Steps<number> {
  for (let count = 0; ; yield) {
    const deleted = store.remove(statement, [values]);
    count += deleted;
    if (deleted < STEP_ROWS) return count;
  }
}
