import type { View } from "../../auth/view.ts";
import type { AppDevices } from "../../hot/app-devices.ts";
import { copyNewest, type NewestColumns } from "../../hot/devices/newest-columns.ts";
import { fail, ok, type Result } from "../../lib/result.ts";
import type { MaybePromise } from "../../lib/schedule/maybe-promise.ts";
import { type QuotaOwner, SharedPool } from "../../lib/schedule/shared-pool.ts";
import type { Steps } from "../../lib/schedule/steps.ts";
import type { ServiceError } from "../../model/errors.ts";
import type { AppId } from "../../model/ids.ts";
import type { StoredField } from "../../model/location-fields.ts";
import { utcDayOf } from "../../model/time/utc-day.ts";
import { findShown } from "./current.ts";
import type { Caller, QueryDependencies } from "./find-device.ts";

/*
 * The positions of all devices of an app in columns: the initial state of a map, before it receives changes.
 */

export interface Snapshot {
  /** The last log entry that changed the app when the snapshot began: no record is older, some may be newer. */
  readonly sequence: number;
  /** In the order of device ids. */
  readonly blocks: readonly NewestColumns[];
  /** Releases the memory, after the snapshot was sent or abandoned. */
  end(): void;
}

/** A key, and its view. */
export interface SnapshotAsker extends QuotaOwner {
  readonly appId: AppId;
  /** Null for everything. */
  readonly view: View | null;
}

export type TakeSnapshot = (
  asker: SnapshotAsker,
  fields: readonly StoredField[],
  caller: Caller,
) => MaybePromise<Result<Snapshot, ServiceError>>;

export interface SnapshotLimits {
  /** Drawing more devices one by one makes no useful picture. */
  readonly devicesMax: number;
  /** The sum of all snapshots that are being sent. */
  readonly bytesMax: number;
}

/** A snapshot of a million devices with all fields takes about 150 MB. */
const LIMITS: SnapshotLimits = { devicesMax: 1_000_000, bytesMax: 256 * 1024 * 1024 };

const VALUE_BYTES = 8;
/** Id, time and position. */
const FIXED_COLUMNS = 4;

const TOO_MUCH: ServiceError = {
  kind: "unavailable",
  message: "too many snapshots are being sent; try again once one has ended",
  retryAfterSeconds: 5,
};

export function createTakeSnapshot(
  { hot, clock, retention, scheduler }: QueryDependencies,
  { devicesMax, bytesMax } = LIMITS,
): TakeSnapshot {
  const memory = new SharedPool(bytesMax);

  return function takeSnapshot(asker, fields, { signal }) {
    const { appId, view } = asker;
    const app = hot.findApp(appId);
    if (app === null) return ok({ sequence: 0, blocks: [], end: () => {} });
    const retainedMs = retention.startMs(clock.nowMs());
    const copy = (devices: readonly number[]) => copyNewest(app, hot.dictionary, devices, fields);
    if (view !== null) return ok(viewed(app, view, retainedMs, copy));
    const devices = app.newestTimes.countFrom(utcDayOf(retainedMs));
    if (devices > devicesMax) return fail(tooManyDevices(devicesMax));
    signal.throwIfAborted(); // An aborted signal emits no further event.
    const bytes = devices * (FIXED_COLUMNS + fields.length) * VALUE_BYTES;
    if (!memory.take(asker, bytes)) return fail(TOO_MUCH);
    let isHeld = true;
    const end = () => {
      if (isHeld) memory.give(asker, bytes);
      isHeld = false;
    };
    signal.addEventListener("abort", end, { once: true });
    return scheduler.runAtOnce(appId, signal, collect(app, retainedMs, copy, end));
  };
}

function tooManyDevices(max: number): ServiceError {
  const [most, instead] = [max.toLocaleString("en"), "/api/v1/tiles/{z}/{x}/{y}.mvt"];
  return {
    kind: "invalid_parameter",
    message: `the app has more than ${most} devices: ask ${instead} for parts of the map`,
  };
}

/** Copies these devices, by number. */
type Copy = (devices: readonly number[]) => NewestColumns;

/**
 * Between steps devices move, appear and disappear: each row is a whole record, and a device that stays occurs once.
 */
function* collect(
  app: AppDevices,
  retainedMs: number,
  copy: Copy,
  end: () => void,
): Steps<Result<Snapshot, ServiceError>> {
  const { sequence } = app.touches; // Read first, so that no row is older.
  const blocks: NewestColumns[] = [];
  while (!app.list.sortPending()) yield;
  const next = app.list.reader();
  for (let block = next(); block !== null; block = next()) {
    blocks.push(copy(block.numbers.filter((device) => app.newestTimes.of(device) >= retainedMs)));
    yield;
  }
  return ok({ sequence, blocks, end });
}

/** The view of a share link: its devices are few enough for one step. */
function viewed(app: AppDevices, view: View, retainedMs: number, copy: Copy): Snapshot {
  const devices = findShown(app, view, { startMs: retainedMs, endMs: Number.POSITIVE_INFINITY });
  const sequence = devices.reduce((last, device) => Math.max(last, app.touches.sequenceOf(device)), 0);
  return { sequence, blocks: [blurred(copy(devices), view)], end: () => {} };
}

/** The columns with the times and positions that the view shows. */
function blurred(columns: NewestColumns, view: View): NewestColumns {
  const points = Array.from(columns.latitude, (latitude, row) =>
    view.pointOf(latitude, columns.longitude[row]!),
  );
  return {
    ...columns,
    timestampMs: columns.timestampMs.map((ms) => view.timeOf(ms)),
    latitude: Float64Array.from(points, ({ latitude }) => latitude),
    longitude: Float64Array.from(points, ({ longitude }) => longitude),
  };
}
