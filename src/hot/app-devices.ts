import { assert } from "../lib/assert.ts";
import type { MaybePromise } from "../lib/schedule/maybe-promise.ts";
import type { Scheduler } from "../lib/schedule/scheduler.ts";
import type { Steps } from "../lib/schedule/steps.ts";
import { FloatColumn } from "../lib/tables/columns.ts";
import type { AppId, DeviceId } from "../model/ids.ts";
import { numberIndex } from "../model/location-fields.ts";
import { PositionIndex } from "../spatial/position-index.ts";
import type { PositionSearch } from "../spatial/search.ts";
import type { ChangeRing } from "./change-ring.ts";
import { ArchivedRows } from "./devices/archived-rows.ts";
import type { Device } from "./devices/device.ts";
import { NewestTimes, Touches } from "./devices/device-columns.ts";
import { DeviceList } from "./devices/device-list.ts";
import { DeviceTable, NO_DEVICE } from "./devices/device-table.ts";
import { NO_USER, UsersOfApp } from "./devices/users-of-app.ts";
import type { DayLedger } from "./late/day-ledger.ts";
import { LateMinutes } from "./late/late-minutes.ts";
import { numberAt, timestampAt } from "./records/chunk.ts";
import type { Dictionary } from "./records/dictionary.ts";
import type { RowRef } from "./records/long-track.ts";
import type { RowPages } from "./records/row-pages.ts";
import type { DeviceBlocks } from "./scan/memory-scan.ts";
import { NewestOfApp } from "./scan/newest-of-app.ts";
import { TimeIndex } from "./times/time-index.ts";

/** Devices that one step of `showAll()` handles, in a few milliseconds. */
const SHOWN_STEP = 16_384;

const LATITUDE = numberIndex("latitude");
const LONGITUDE = numberIndex("longitude");
const ACCURACY = numberIndex("horizontal_accuracy");

/** One app's devices in memory, by id and by user, and where they are. A query may read all of them. */
export class AppDevices implements DeviceBlocks {
  readonly appId: AppId;
  readonly table: DeviceTable;
  readonly list: DeviceList;
  readonly newestTimes = new NewestTimes();
  readonly touches = new Touches();
  readonly changes: ChangeRing;
  readonly users: UsersOfApp;
  /** Newest positions. Devices at equal distance are ordered by id (UTF-8 bytes). */
  readonly positions: PositionIndex;
  readonly archivedRows: ArchivedRows;
  readonly newestRecords: NewestOfApp;
  readonly lateMinutes: LateMinutes;
  readonly times: TimeIndex;
  recordCount = 0;
  /** The app's records that corrections hide; null if there are none, and if these are they. */
  hidden: AppDevices | null = null;
  /** Whether corrections hide these records. They are then in no answer. */
  isHidden = false;
  /** Whether these are what devices reported that show as others. The records that show are copies of them. */
  isAliased = false;
  /**
   * Devices whose newest archived record may be that of a device that shows as them; with that device, unless it is
   * unknown.
   */
  readonly borrowed = new Map<number, DeviceId | null>();
  /** By device, the entry of the log whose correction last made its newest record an older one, or none. */
  readonly olderSince = new FloatColumn();
  /** Devices that are known but in no list, because corrections hide all their records. */
  readonly #unlisted = new Set<number>();
  readonly #scheduler: Scheduler;

  constructor(
    appId: AppId,
    pages: RowPages,
    dictionary: Dictionary,
    ledger: DayLedger,
    search: PositionSearch,
    changes: ChangeRing,
    scheduler: Scheduler,
  ) {
    this.appId = appId;
    this.changes = changes;
    this.table = new DeviceTable(pages);
    this.list = new DeviceList(this.table);
    this.lateMinutes = new LateMinutes(this.list);
    this.times = new TimeIndex(this.list, ledger, dictionary);
    this.#scheduler = scheduler;
    this.users = new UsersOfApp(this.table);
    this.archivedRows = new ArchivedRows(this.table, dictionary);
    this.newestRecords = new NewestOfApp(appId, this.table, this.archivedRows, dictionary);
    this.positions = new PositionIndex(search, {
      compare: (a, b) => this.table.compareId(a, this.table.idOf(b)),
      isReady: () => this.list.sortPending(),
      reader: () => this.list.reader(),
    });
  }

  find(deviceId: string): Device | null {
    return this.table.find(deviceId);
  }

  /** The number of the device, which is added if it is not known. */
  findOrAdd(deviceId: DeviceId): number {
    const known = this.table.numberOf(deviceId);
    if (known !== NO_DEVICE) return known;
    const device = this.table.add(deviceId);
    this.list.add(device);
    return device.number;
  }

  get deviceCount(): number {
    return this.table.count;
  }

  /** Takes a device without a record out of all answers. It keeps its number. */
  unlist(device: number): void {
    if (this.#unlisted.has(device)) return;
    this.#unlisted.add(device);
    this.list.delete(this.table.byNumber(device));
    if (this.newestTimes.of(device) > Number.NEGATIVE_INFINITY) this.positions.remove(device);
    this.newestTimes.remove(device);
    this.newestRecords.changed(device);
    this.users.setCurrent(device, NO_USER);
  }

  /** Devices that are in no list. Any may come or go meanwhile. */
  *unlistedDevices(): Iterable<Device> {
    for (const device of this.#unlisted) yield this.table.byNumber(device);
  }

  /** Makes a device's newest record an older one than was published. */
  noteOlder(device: number): void {
    this.list.noteOlder(this.table.byNumber(device));
    this.users.setCurrent(device, NO_USER); // Lists of users may know that it is newer.
  }

  /** How many devices `blocks()` visits. */
  get size(): number {
    return this.list.size;
  }

  blocks(): Iterable<readonly Device[]> {
    return this.list.blocks();
  }

  /** The newest record of a device that has one, in memory or archived. */
  newest(device: Device): RowRef {
    return this.archivedRows.newest(device.number);
  }

  /** Publishes a record as the device's newest: its position, its time and its user. */
  showNewest(device: number, { chunk, row }: RowRef, user: number): void {
    if (this.#unlisted.size > 0 && this.#unlisted.delete(device)) this.list.add(this.table.byNumber(device));
    const timestampMs = timestampAt(chunk, row);
    this.positions.set(
      device,
      numberAt(chunk, row, LATITUDE),
      numberAt(chunk, row, LONGITUDE),
      timestampMs,
      numberAt(chunk, row, ACCURACY),
    );
    this.newestTimes.set(device, timestampMs);
    this.newestRecords.changed(device);
    this.users.setCurrent(device, user);
  }

  /** Like `showNewest()` for all devices of an app that has published none. Yields after every few thousand devices. */
  *showAll(userOf: (record: RowRef) => number): Steps<void> {
    const { numbersEnd } = this.table;
    const devices = new Uint32Array(this.table.count);
    const latitude = new Float64Array(numbersEnd);
    const longitude = new Float64Array(numbersEnd);
    const timesMs = new Float64Array(numbersEnd);
    const accuracies = new Float64Array(numbersEnd);
    let count = 0;
    for (let device = 0; device < numbersEnd; device++) {
      if (device % SHOWN_STEP === 0) yield;
      const newest = this.archivedRows.findNewest(device);
      if (newest === null) {
        if (this.table.findByNumber(device) !== null) this.unlist(device);
        continue;
      }
      const { chunk, row } = newest;
      devices[count++] = device;
      latitude[device] = numberAt(chunk, row, LATITUDE);
      longitude[device] = numberAt(chunk, row, LONGITUDE);
      accuracies[device] = numberAt(chunk, row, ACCURACY);
      timesMs[device] = timestampAt(chunk, row);
      this.newestTimes.set(device, timesMs[device]!);
      this.users.setCurrent(device, userOf(newest));
    }
    yield* this.positions.load({ devices, count, latitude, longitude, timesMs, accuracies });
  }

  /** The device's newest archived record, if it has this time and is its own; else null. */
  findOwnArchived(device: number, timestampMs: number): RowRef | null {
    if (timestampMs !== this.table.columns.archivedTimes.of(device)) return null;
    return this.borrowed.has(device) ? null : this.archivedRows.at(device);
  }

  /**
   * Before this time the device may have archived records, hidden or not; `findOwnArchived()` knows the one at it.
   * -Infinity if there are none.
   */
  archivedEndMs(device: number): number {
    const newestMs = this.archivedRows.endMs(device);
    const shownMs = this.borrowed.has(device) ? newestMs + 1 : newestMs;
    if (this.hidden === null) return shownMs;
    const number = this.hidden.table.numberOf(this.table.idOf(device));
    return number === NO_DEVICE ? shownMs : Math.max(shownMs, this.hidden.archivedRows.endMs(number));
  }

  /** Horizontal accuracy of a device's newest record; NaN if it has none. */
  newestAccuracyMeters(device: number): number {
    const { chunk, row } = this.archivedRows.newest(device);
    return numberAt(chunk, row, ACCURACY);
  }

  /** Forgets a device without records in memory. */
  remove(device: Device): void {
    assert(device.recordCount === 0, "a device with records is not forgotten");
    assert(
      this.table.columns.userCounts.isEmpty(device.number),
      "the user counts of a device without records are empty",
    );
    if (!this.#unlisted.delete(device.number)) this.list.delete(device);
    if (this.newestTimes.of(device.number) > Number.NEGATIVE_INFINITY) {
      this.positions.remove(device.number);
      this.newestTimes.remove(device.number);
    }
    this.touches.remove(device.number);
    this.newestRecords.removed(device.number);
    this.users.setCurrent(device.number, NO_USER);
    this.archivedRows.forget(device.number);
    this.borrowed.delete(device.number);
    this.table.columns.copies?.unwatch(device.number);
    this.olderSince.set(device.number, Number.NEGATIVE_INFINITY);
    this.table.remove(device);
  }

  /**
   * Runs `work` once the device list is sorted, in the same step: in a later step, new devices may have come. The list
   * decides the order of devices at equal distance. Calls wait for their turn.
   */
  whenInOrder<Value>(signal: AbortSignal, work: () => Value): MaybePromise<Value> {
    return this.#scheduler.runAtOnce(this.appId, signal, this.#putInOrder(work));
  }

  *#putInOrder<Value>(work: () => Value): Steps<Value> {
    while (!this.list.sortPending()) yield;
    return work();
  }
}
