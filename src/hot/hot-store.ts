import { assert } from "../lib/assert.ts";
import type { Scheduler } from "../lib/schedule/scheduler.ts";
import type { AppId } from "../model/ids.ts";
import type { ReportBatch } from "../model/report-batch.ts";
import type { StandingEntry } from "../model/standing-entry.ts";
import type { TimeRange } from "../model/time/range.ts";
import type { UtcDay } from "../model/time/utc-day.ts";
import type { AppDevices } from "./app-devices.ts";
import { Apps, forgetDevices } from "./apps.ts";
import { type AppliedBatch, BatchWriter, rowsWithoutRecord } from "./batch-writer.ts";
import { type ChangeRoom, createChangeRoom } from "./change-ring.ts";
import { DeviceProfiles } from "./device-profiles.ts";
import type { Device } from "./devices/device.ts";
import { DayLedger, isSealed, type LedgerDay } from "./late/day-ledger.ts";
import { holdsLate, LateScan } from "./late/late-rows.ts";
import { LateOfApp, LateOfDevice, LateOfKeys } from "./late/late-sources.ts";
import { RecordWriter } from "./record-writer.ts";
import { Dictionary } from "./records/dictionary.ts";
import type { RecordKey } from "./scan/first-records.ts";
import type { MemoryQuery, MemoryScan } from "./scan/memory-scan.ts";
import { Sealing } from "./sealing.ts";

/**
 * All records that are not archived, compressed, by app and device in time order; the newest record of every device,
 * archived or not; and the profiles of devices. Records enter only by applying a batch of reports, so replay and live
 * traffic build the same store; they leave only by a seal.
 * Of a sealed day, memory has the late rows: what was reported since the seal. If the archive may have a record of the
 * same instant, the late row has only what its reports carried, to be merged into that record.
 */
export interface HotStore {
  readonly dictionary: Dictionary;
  /** Merges the batch of a log entry into the store, in order. Reports that the archive covers are skipped. */
  apply(appId: AppId, batch: ReportBatch, sequence: number): AppliedBatch;
  readonly profiles: DeviceProfiles;
  /** Applies an entry that has no reports. Those that the archive has are skipped. */
  applyStanding(entry: StandingEntry, sequence: number): void;
  /** The result of a batch that would change nothing; null if it would change anything. */
  findRepeated(appId: AppId, batch: ReportBatch): AppliedBatch | null;
  /** The first row of each instant in the range that has no record in memory. */
  rowsWithoutRecord(appId: AppId, batch: ReportBatch, range: TimeRange): number[];
  findApp(appId: AppId): AppDevices | null;
  apps(): Iterable<AppDevices>;
  /** Records in memory. */
  readonly recordCount: number;
  readonly deviceCount: number;
  /** The last log entry that was applied, or 0. */
  readonly appliedSequence: number;
  /**
   * The log entry up to which everything is visible to queries. At a start, archived entries are no longer in the log.
   */
  readonly visibleSequence: number;

  /**
   * Begins a replay into an empty store. No query reads devices until `endReplay()`, which builds their indexes from
   * the newest records only.
   */
  beginReplay(): void;
  /** Builds the indexes of devices, in steps. No record may be applied meanwhile. */
  endReplay(): Iterable<void>;
  /** Empties the store, after a replay that failed, perhaps in the middle of a batch. */
  clear(): void;
  /** From now on each app remembers what becomes visible after this entry, which must be the last one applied. */
  keepChanges(sequence: number): void;
  /** Sets the listener that is called while a batch is applied, once it made something of the app visible. */
  watchChanges(onChanged: (appId: AppId) => void): void;
  /** Sets the listener that is called after each log entry is applied. */
  watchApplied(onApplied: (sequence: number) => void): void;
  /** A reader that has seen the changes of this log entry missed none since, also of an app that is unknown by now. */
  readonly changesSince: number;

  /**
   * Sets which days are archived, each up to which log entry, and whether the newest archived record of every device is
   * restored. Call before the first `apply()`.
   */
  setSealed(sequences: ReadonlyMap<UtcDay, number>, hasAllNewest: boolean): void;
  /** Restores the newest archived record of each device. Call before the first `apply()`. */
  restoreNewest(appId: AppId, batch: ReportBatch): void;
  /** The scan of a query, for the functions of `scan/`. */
  scan(query: MemoryQuery): MemoryScan;

  /** Days with records in memory, sorted. */
  daysInMemory(): readonly DayInMemory[];
  /** Begins to move these days into the archive. One seal runs at a time. */
  seal(days: readonly UtcDay[]): Sealing;
  /** Whether memory has late rows of this sealed day, of any app. */
  holdsLate(day: UtcDay): boolean;
  /** The late rows of an app, or of one of its devices. */
  lateRows(app: AppDevices, device: Device | null): LateScan;
  /** The late rows with these keys, in order of time, each once. */
  lateRowsAt(keys: readonly RecordKey[]): LateScan;
  /** Compresses records older than this that lie among many others, in steps. They then take a third of the memory. */
  pack(beforeMs: number): Iterable<void>;
  /** Drops indexes that no query used for an hour. */
  forgetIdle(): void;
  /** Forgets devices without records in memory and with nothing newer than this, in steps. */
  forgetDevices(beforeMs: number): Iterable<void>;
}

export interface DayInMemory {
  readonly day: UtcDay;
  readonly records: number;
  /** The size of the late fixes (`LateFixes`) of the day, counted in records. */
  readonly fixSize: number;
  readonly isSealed: boolean;
}

/** Rebuilding an index costs about as much as a few answers without it. */
const IDLE_MS_MAX = 3_600_000;

/** `scheduler` runs the sorting of long device lists. */
export function createHotStore(
  scheduler: Scheduler,
  firstDictionary: Dictionary = new Dictionary(),
  room: ChangeRoom = createChangeRoom(),
): HotStore {
  let { dictionary, ledger, apps, records, batches } = createContents(firstDictionary, scheduler, room);
  let profiles = new DeviceProfiles();
  const progress = new Progress();
  return {
    get dictionary() {
      return dictionary;
    },
    apply(appId, batch, sequence) {
      progress.expectNext(sequence);
      const app = apps.findOrAdd(appId);
      const { end } = app.changes;
      const applied = batches.apply(app, batch, sequence);
      progress.note(apps, sequence, app.changes.end > end ? appId : null);
      return applied;
    },
    get profiles() {
      return profiles;
    },
    applyStanding(entry, sequence) {
      progress.expectNext(sequence);
      const { appId, deviceId } = entry;
      profiles.apply(entry, sequence);
      const app = apps.find(appId);
      const isChanged = app !== null && batches.noteProfile(app, deviceId, sequence);
      progress.note(apps, sequence, isChanged ? appId : null);
    },
    findRepeated(appId, batch) {
      const app = apps.find(appId);
      return app === null ? null : batches.findRepeated(app, batch);
    },
    rowsWithoutRecord: (appId, batch, range) => rowsWithoutRecord(apps.find(appId), batch, range),
    findApp: (appId) => apps.find(appId),
    apps: () => apps.all(),
    get recordCount() {
      return apps.recordCount;
    },
    get deviceCount() {
      return apps.deviceCount;
    },
    get appliedSequence() {
      return progress.sequence;
    },
    get visibleSequence() {
      return apps.visibleSequence;
    },
    beginReplay() {
      assert(apps.deviceCount === 0, "a replay begins with an empty memory");
      records.showsAtEnd = true;
    },
    endReplay: () => showAllNewest(apps, records, progress.sequence),
    clear() {
      ({ dictionary, ledger, apps, records, batches } = createContents(new Dictionary(), scheduler, room));
      profiles = new DeviceProfiles();
      progress.sequence = 0;
    },
    keepChanges(sequence) {
      apps.keepChanges(sequence);
      batches.keepsChanges = true;
    },
    watchChanges: (onChanged) => progress.watchChanges(onChanged),
    watchApplied: (onApplied) => progress.watchApplied(onApplied),
    get changesSince() {
      return apps.changesSince;
    },
    scan({ devices, range, userId, accuracyMetersMax }) {
      const user = () => (userId === null ? null : dictionary.findUser(userId));
      return { devices, range, filter: () => ({ accuracyMetersMax, user: user() }), dictionary };
    },
    setSealed(sequences, hasAllNewest) {
      ledger.setSealed(sequences);
      records.hasAllNewest = hasAllNewest;
    },
    restoreNewest: (appId, batch) => batches.restoreNewest(apps.findOrAdd(appId), batch),
    daysInMemory: () => ledger.withRecords().map(dayInMemory),
    seal: (days) => new Sealing(apps, ledger, dictionary, days, progress.sequence),
    holdsLate: (day) => holdsLate(ledger.of(day)),
    lateRows: (app, device) => lateRowsOf(app, device, ledger, dictionary),
    lateRowsAt: (keys) => new LateScan(new LateOfKeys(keys), ledger, dictionary, null),
    *pack(beforeMs) {
      for (const { table } of apps.all()) yield* table.columns.tracks.pack(beforeMs);
    },
    forgetIdle() {
      const beforeMs = performance.now() - IDLE_MS_MAX;
      for (const { times } of apps.all()) times.forgetIdle(beforeMs);
    },
    forgetDevices: (beforeMs) => forgetDevices(apps, dictionary, beforeMs),
  };
}

/** How far memory is in the log, and who is told. */
class Progress {
  /** The last entry that was applied. */
  sequence = 0;
  #onAppChanged = (_appId: AppId) => {};
  #onApplied = (_sequence: number) => {};

  watchChanges(onChanged: (appId: AppId) => void): void {
    this.#onAppChanged = onChanged;
  }

  watchApplied(onApplied: (sequence: number) => void): void {
    this.#onApplied = onApplied;
  }

  /** A seal covers all entries up to the last one applied, so an earlier one that came later would be lost. */
  expectNext(sequence: number): void {
    assert(sequence > this.sequence, "entries reach memory in the order of the log");
  }

  /** `changed` is the app of which viewers are to be told something; null if there is none. */
  note(apps: Apps, sequence: number, changed: AppId | null): void {
    this.sequence = sequence;
    apps.visibleSequence = sequence;
    if (changed !== null) this.#onAppChanged(changed);
    this.#onApplied(sequence);
  }
}

/** Makes the newest records of all devices visible after a replay, in steps. */
function* showAllNewest(apps: Apps, records: RecordWriter, sequence: number): Iterable<void> {
  for (const app of apps.all()) {
    yield* records.showAllNewest(app);
    app.touches.begin(sequence);
  }
  records.showsAtEnd = false;
}

function createContents(dictionary: Dictionary, scheduler: Scheduler, room: ChangeRoom) {
  const ledger = new DayLedger();
  const apps = new Apps(dictionary, ledger, scheduler, room);
  const records = new RecordWriter(dictionary);
  return { dictionary, ledger, apps, records, batches: new BatchWriter(dictionary, ledger, records) };
}

function dayInMemory(entry: LedgerDay): DayInMemory {
  const { day, count, fixCount } = entry;
  return { day, records: count, fixSize: fixCount, isSealed: isSealed(entry) };
}

function lateRowsOf(
  app: AppDevices,
  device: Device | null,
  ledger: DayLedger,
  dictionary: Dictionary,
): LateScan {
  const source = device === null ? new LateOfApp(app.table, app.lateMinutes) : new LateOfDevice(device);
  return new LateScan(source, ledger, dictionary, JSON.stringify([app.appId, device?.id ?? null]));
}
