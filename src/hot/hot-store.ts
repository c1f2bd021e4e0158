import type { AppId, DeviceId } from "../model/ids.ts";
import { NUMBER_FIELDS, numberIndex } from "../model/location-fields.ts";
import type { ReportBatch } from "../model/report-batch.ts";
import { PositionSearch } from "../spatial/search.ts";
import type { UtcDay } from "../time/utc-day.ts";
import { AppDevices } from "./app-devices.ts";
import type { Device } from "./devices/device.ts";
import { DayLedger, isSealed, type LedgerDay, noteChange } from "./late/day-ledger.ts";
import { LateOfApp } from "./late/late-of-app.ts";
import { LateOfDevice } from "./late/late-of-device.ts";
import { LateOfKeys } from "./late/late-of-keys.ts";
import { holdsLate, LateScan } from "./late/late-rows.ts";
import {
  maskOf,
  numberAt,
  profileAt,
  setNumber,
  setTuples,
  stateAt,
  timestampAt,
  writeRow,
} from "./records/chunk.ts";
import { createDictionary, type Dictionary, type TranslatedTuples } from "./records/dictionary.ts";
import type { RowRef } from "./records/track.ts";
import type { RecordKey } from "./scan/first-records.ts";
import type { MemoryQuery, MemoryScan } from "./scan/memory-scan.ts";
import { Sealing } from "./sealing.ts";

const LATITUDE = numberIndex("latitude");
const LONGITUDE = numberIndex("longitude");
const ACCURACY = numberIndex("horizontal_accuracy");

/**
 * Every record that no archive holds, by app and device in time order, packed; and the newest record of every
 * device, wherever it is. Laying a batch of reports over it is the only way that records come in, so replay and
 * live traffic leave the same store behind; sealing is the only way that they leave.
 *
 * Of a day that is sealed, memory holds what was reported since: a late row. Where the archive may hold a record
 * of the same instant, a late row holds what its reports carried and no more, to be laid over that record.
 */
export interface HotStore {
  readonly dictionary: Dictionary;
  /** Lays the batch of an entry of the log over the store, in order; reports that the archive covers stay out. */
  apply(appId: AppId, batch: ReportBatch, sequence: number): AppliedBatch;
  /** Whether the whole batch repeats what memory knows, so that laying it over the store would change nothing. */
  repeats(appId: AppId, batch: ReportBatch): boolean;
  findApp(appId: AppId): AppDevices | null;
  apps(): Iterable<AppDevices>;
  /** Records, without those of the archive. */
  readonly recordCount: number;
  readonly deviceCount: number;
  /** The last entry that was laid over the store, or 0. */
  readonly appliedSequence: number;

  /**
   * Says which days the archive holds, up to which entry of the log, and whether the newest sealed record of every
   * device was restored. Before the first `apply`.
   */
  setSealed(sequences: ReadonlyMap<UtcDay, number>, hasAllNewest: boolean): void;
  /** Takes in the newest sealed record of each device. Before the first `apply`. */
  restoreNewest(appId: AppId, batch: ReportBatch): void;
  /** What a query asks for, for `scan/` to look for. */
  scan(query: MemoryQuery): MemoryScan;

  /** Days that memory holds records of, in order. */
  daysInMemory(): readonly DayInMemory[];
  /** Begins to move these days into the archive; one at a time. */
  seal(days: readonly UtcDay[]): Sealing;
  /** Whether memory holds late rows of this sealed day, of any app. */
  holdsLate(day: UtcDay): boolean;
  /** The late rows of an app, or of one of its devices. */
  lateRows(app: AppDevices, device: Device | null): LateScan;
  /** Those of these rows that are late; in order of time, each once. */
  lateRowsAt(keys: readonly RecordKey[]): LateScan;
  /** Forgets devices that have nothing newer than this and nothing in memory, some a step. */
  forgetDevices(beforeMs: number): Iterable<void>;
}

/** What became of the batch's reports: new or changed records, and repeats that changed nothing. */
export interface AppliedBatch {
  readonly accepted: number;
  readonly duplicates: number;
}

export interface DayInMemory {
  readonly day: UtcDay;
  readonly records: number;
  readonly isSealed: boolean;
}

const DEVICES_A_STEP = 1000; // Looking at a device to forget it costs well under a microsecond.

export function createHotStore(dictionary: Dictionary = createDictionary()): HotStore {
  const apps = new Map<AppId, AppDevices>();
  const search = new PositionSearch(); // One at a time, so one serves all apps.
  const ledger = new DayLedger();
  let appliedSequence = 0;
  let hasAllNewest = true;

  function findOrAddApp(appId: AppId): AppDevices {
    let app = apps.get(appId);
    if (app === undefined) {
      app = new AppDevices(appId, dictionary, search);
      apps.set(appId, app);
    }
    return app;
  }

  function applyRow(
    app: AppDevices,
    device: Device,
    day: LedgerDay,
    batch: ReportBatch,
    row: number,
    carried: Tuples,
  ): boolean {
    const timestampMs = batch.timestampMs[row]!;
    const stored = device.track.find(timestampMs);
    if (stored === null) {
      // Even a repeat of the sealed record goes in: the sealed row may be of an entry that the archive does not cover.
      const base =
        isSealed(day) && timestampMs === device.sealedNewestMs ? app.sealed.at(device.number) : null;
      insert(app, device, day, base, batch, row, carried);
    } else {
      const profile = dictionary.mergeProfiles(profileAt(stored.chunk, stored.row), carried.profile);
      const state = dictionary.mergeStates(stateAt(stored.chunk, stored.row), carried.state);
      const isSame =
        profile === profileAt(stored.chunk, stored.row) &&
        state === stateAt(stored.chunk, stored.row) &&
        !carriesOtherNumbers(batch, row, stored);
      if (isSame) return false;
      replace(app, device, stored, batch, row, profile, state);
    }
    noteChange(day, device, timestampMs);
    return true;
  }

  /** Adds a record, laid over `base`, the sealed record of the same instant where that is known. */
  function insert(
    app: AppDevices,
    device: Device,
    day: LedgerDay,
    base: RowRef | null,
    batch: ReportBatch,
    row: number,
    carried: Tuples,
  ): void {
    const timestampMs = batch.timestampMs[row]!;
    const isNewest = timestampMs >= device.newestMs;
    const mayHaveBase = isSealed(day) && (timestampMs < device.sealedNewestMs || !hasAllNewest);
    let { profile, state } = carried;
    let mask = maskOf(batch.numbers, row);
    if (base !== null) {
      profile = dictionary.mergeProfiles(profileAt(base.chunk, base.row), profile);
      state = dictionary.mergeStates(stateAt(base.chunk, base.row), state);
      mask |= base.chunk.mask;
    } else if (!mayHaveBase) {
      profile = dictionary.asStored(profile);
    }
    const place = device.track.insert(timestampMs, mask);
    writeRow(place.chunk, place.row, timestampMs, batch.numbers, row);
    if (base !== null) fillNumbers(place, base);
    setTuples(place.chunk, place.row, profile, state);
    dictionary.retain(profile, state);
    app.recordCount++;
    day.count++;
    app.lateMinutes.note(day.day, timestampMs, device.number);
    const user = dictionary.userOf(profile);
    app.users.countRecord(device, user);
    if (isNewest) showNewest(app, device, place, user);
  }

  /** Lays what the report carries over the stored record, which keeps the rest; its tuples become these. */
  function replace(
    app: AppDevices,
    device: Device,
    stored: RowRef,
    batch: ReportBatch,
    row: number,
    profile: number,
    state: number,
  ): void {
    const place = device.track.widen(stored, maskOf(batch.numbers, row));
    for (let field = 0; field < NUMBER_FIELDS.length; field++) {
      const value = batch.numbers[field]![row]!;
      if (!Number.isNaN(value)) setNumber(place.chunk, place.row, field, value);
    }
    const oldProfile = profileAt(place.chunk, place.row);
    dictionary.retain(profile, state);
    dictionary.release(oldProfile, stateAt(place.chunk, place.row));
    setTuples(place.chunk, place.row, profile, state);
    const oldUser = dictionary.userOf(oldProfile);
    const user = dictionary.userOf(profile);
    if (user !== oldUser) {
      app.users.countRecord(device, user);
      app.users.discountRecord(device, oldUser);
    }
    if (batch.timestampMs[row]! === device.newestMs) showNewest(app, device, place, user);
  }

  function showNewest(app: AppDevices, device: Device, { chunk, row }: RowRef, user: number): void {
    app.positions.set(
      device.number,
      numberAt(chunk, row, LATITUDE),
      numberAt(chunk, row, LONGITUDE),
      timestampAt(chunk, row),
      numberAt(chunk, row, ACCURACY),
    );
    app.newestRecords.changed(device.number);
    app.users.setCurrent(device, user);
  }

  /** What memory knows of a device's record at an instant. */
  function findRecord(app: AppDevices, device: Device, timestampMs: number): RowRef | null {
    const stored = device.track.find(timestampMs);
    if (stored !== null || timestampMs !== device.sealedNewestMs) return stored;
    return app.sealed.at(device.number);
  }

  return {
    dictionary,
    apply(appId, batch, sequence) {
      const app = findOrAddApp(appId);
      const tuples = dictionary.translate(batch);
      const devices: (Device | undefined)[] = new Array(batch.texts.length);
      const carried = { profile: 0, state: 0 };
      let accepted = 0;
      for (let row = 0; row < batch.count; row++) {
        const day = ledger.at(batch.timestampMs[row]!);
        if (sequence <= day.sealedSequence) continue;
        const text = batch.device[row]!;
        let device = devices[text];
        if (device === undefined) {
          device = app.findOrAdd(batch.texts[text] as DeviceId);
          devices[text] = device;
        }
        readTuples(tuples, batch, row, carried);
        if (applyRow(app, device, day, batch, row, carried)) accepted++;
      }
      dictionary.collect();
      appliedSequence = sequence;
      return { accepted, duplicates: batch.count - accepted };
    },
    repeats(appId, batch) {
      const app = apps.get(appId);
      if (app === undefined) return false;
      for (let row = 0; row < batch.count; row++) {
        const device = app.find(batch.texts[batch.device[row]!]!);
        const stored = device === null ? null : findRecord(app, device, batch.timestampMs[row]!);
        if (stored === null || carriesOther(dictionary, batch, row, stored)) return false;
      }
      return true;
    },
    findApp: (appId) => apps.get(appId) ?? null,
    apps: () => apps.values(),
    get recordCount() {
      let count = 0;
      for (const app of apps.values()) count += app.recordCount;
      return count;
    },
    get deviceCount() {
      let count = 0;
      for (const app of apps.values()) count += app.deviceCount;
      return count;
    },
    get appliedSequence() {
      return appliedSequence;
    },

    setSealed(sequences, hasAll) {
      ledger.setSealed(sequences);
      hasAllNewest = hasAll;
    },
    restoreNewest(appId, batch) {
      const app = findOrAddApp(appId);
      const tuples = dictionary.translate(batch);
      const carried = { profile: 0, state: 0 };
      for (let row = 0; row < batch.count; row++) {
        const device = app.findOrAdd(batch.texts[batch.device[row]!] as DeviceId);
        if (batch.timestampMs[row]! < device.sealedNewestMs) continue;
        readTuples(tuples, batch, row, carried);
        const profile = dictionary.asStored(carried.profile);
        const place = app.sealed.write(device, batch, row, profile, carried.state);
        showNewest(app, device, place, dictionary.userOf(profile));
      }
      dictionary.collect();
    },
    scan({ devices, range, userId, accuracyMetersMax }) {
      const filter = () => {
        return { accuracyMetersMax, user: userId === null ? null : dictionary.findUser(userId) };
      };
      return { devices, range, filter, dictionary };
    },
    daysInMemory: () =>
      ledger.withRecords().map((day) => ({ day: day.day, records: day.count, isSealed: isSealed(day) })),
    seal: (days) => new Sealing(apps, ledger, dictionary, days, appliedSequence),
    holdsLate: (day) => holdsLate(ledger.of(day)),
    lateRows: (app, device) =>
      new LateScan(
        device === null ? new LateOfApp(app.table, app.lateMinutes) : new LateOfDevice(device),
        ledger,
        dictionary,
      ),
    lateRowsAt: (keys) => new LateScan(new LateOfKeys(keys), ledger, dictionary),
    *forgetDevices(beforeMs) {
      let looked = 0;
      for (const app of apps.values()) {
        for (const device of app.list.devices()) {
          if (device?.track.count === 0 && device.sealedNewestMs < beforeMs) app.remove(device);
          if (device !== null && ++looked % DEVICES_A_STEP > 0) continue;
          dictionary.collect();
          yield;
        }
        if (app.deviceCount === 0) apps.delete(app.appId);
      }
      dictionary.collect();
    },
  };
}

/** A report's profile and state as it carried them, in the dictionary's numbers. */
interface Tuples {
  profile: number;
  state: number;
}

function readTuples(tuples: TranslatedTuples, batch: ReportBatch, row: number, out: Tuples): void {
  out.profile = tuples.profiles[batch.profile[row]!]!;
  out.state = tuples.states[batch.state[row]!]!;
}

/** Gives the record the number fields of `base` that it has not itself. */
function fillNumbers({ chunk, row }: RowRef, base: RowRef): void {
  for (let field = 0; field < NUMBER_FIELDS.length; field++) {
    const value = numberAt(base.chunk, base.row, field);
    if (!Number.isNaN(value) && Number.isNaN(numberAt(chunk, row, field)))
      setNumber(chunk, row, field, value);
  }
}

/** Whether the report carries anything that the stored record has not, or has otherwise. */
function carriesOther(dictionary: Dictionary, batch: ReportBatch, row: number, stored: RowRef): boolean {
  const [profile, state] = [profileAt(stored.chunk, stored.row), stateAt(stored.chunk, stored.row)];
  return carriesOtherNumbers(batch, row, stored) || dictionary.carriesOtherTexts(batch, row, profile, state);
}

function carriesOtherNumbers(batch: ReportBatch, row: number, stored: RowRef): boolean {
  for (let field = 0; field < NUMBER_FIELDS.length; field++) {
    const value = batch.numbers[field]![row]!;
    if (!Number.isNaN(value) && value !== numberAt(stored.chunk, stored.row, field)) return true;
  }
  return false;
}
