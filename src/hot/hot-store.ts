import { assert } from "../lib/assert.ts";
import type { Scheduler } from "../lib/schedule/scheduler.ts";
import type { AppId } from "../model/ids.ts";
import type { ReportBatch } from "../model/report-batch.ts";
import type { TimeRange } from "../model/time/range.ts";
import type { UtcDay } from "../model/time/utc-day.ts";
import type { AppDevices } from "./app-devices.ts";
import { Apps, forgetDevices } from "./apps.ts";
import { type AppliedBatch, BatchWriter, rowsWithoutRecord } from "./batch-writer.ts";
import { type ChangeRoom, createChangeRoom } from "./change-ring.ts";
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
  /** What the whole batch comes to if laying it over the store would change nothing; null if it would. */
  findRepeated(appId: AppId, batch: ReportBatch): AppliedBatch | null;
  /** The first row of each instant of a range without a record in memory. */
  rowsWithoutRecord(appId: AppId, batch: ReportBatch, range: TimeRange): number[];
  findApp(appId: AppId): AppDevices | null;
  apps(): Iterable<AppDevices>;
  /** Records, without those of the archive. */
  readonly recordCount: number;
  readonly deviceCount: number;
  /** The last entry that was laid over the store, or 0. */
  readonly appliedSequence: number;
  /** The entry of the log up to which everything can be asked for: also what the archive holds, and no log any more. */
  readonly visibleSequence: number;

  /**
   * Says that nobody asks about devices until `endReplay`: what they are found by is then made for all at once, with
   * their newest records alone. Before any record comes in.
   */
  beginReplay(): void;
  /** Makes it, some of it a step. No record comes in meanwhile. */
  endReplay(): Iterable<void>;
  /** Makes the store as empty as a new one: a replay broke off, perhaps in the middle of a batch. */
  clear(): void;
  /** From here on each app remembers what becomes visible after this entry of the log, the last one as of now. */
  keepChanges(sequence: number): void;
  /** Says who is told, while a batch is applied, that it made something of an app visible. */
  watchChanges(onChanged: (appId: AppId) => void): void;
  /** Says who is told of each entry that was laid over the store. */
  watchApplied(onApplied: (sequence: number) => void): void;
  /** Who saw what this entry of the log made of an app that is not there, or more, missed nothing since. */
  readonly changesSince: number;

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
  /** Packs records that are older than this and lie among many, some a step: they take a third of their memory. */
  pack(beforeMs: number): Iterable<void>;
  /** Gives up indexes that nobody has asked for in an hour. */
  forgetIdle(): void;
  /** Forgets devices that have nothing newer than this and nothing in memory, some a step. */
  forgetDevices(beforeMs: number): Iterable<void>;
}

export interface DayInMemory {
  readonly day: UtcDay;
  readonly records: number;
  /** The size, in records, of the fixes kept beside them: of instants whose several reports wait for the archive. */
  readonly besides: number;
  readonly isSealed: boolean;
}

/** To make an index again costs about as much as a few answers without it. */
const IDLE_MS_MAX = 3_600_000;

/** The scheduler gives the time to put long lists of devices in order. */
export function createHotStore(
  scheduler: Scheduler,
  firstDictionary: Dictionary = new Dictionary(),
  room: ChangeRoom = createChangeRoom(),
): HotStore {
  let { dictionary, ledger, apps, records, batches } = createContents(firstDictionary, scheduler, room);
  let appliedSequence = 0;
  let onAppChanged = (_appId: AppId) => {};
  let onApplied = (_sequence: number) => {};
  return {
    get dictionary() {
      return dictionary;
    },
    apply(appId, batch, sequence) {
      // A seal says up to which entry its rows have all reports: one that came later would be lost with its log.
      assert(sequence > appliedSequence, "entries reach memory in the order of the log");
      const app = apps.findOrAdd(appId);
      const { end } = app.changes;
      const applied = batches.apply(app, batch, sequence);
      appliedSequence = sequence;
      apps.visibleSequence = sequence;
      if (app.changes.end > end) onAppChanged(appId);
      onApplied(sequence);
      return applied;
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
      return appliedSequence;
    },
    get visibleSequence() {
      return apps.visibleSequence;
    },
    beginReplay() {
      assert(apps.deviceCount === 0, "a replay begins with an empty memory");
      records.showsAtEnd = true;
    },
    *endReplay() {
      for (const app of apps.all()) {
        yield* records.showAllNewest(app);
        app.touches.begin(appliedSequence);
      }
      records.showsAtEnd = false;
    },
    clear() {
      ({ dictionary, ledger, apps, records, batches } = createContents(new Dictionary(), scheduler, room));
      appliedSequence = 0;
    },
    keepChanges(sequence) {
      apps.keepChanges(sequence);
      batches.keepsChanges = true;
    },
    watchChanges(onChanged) {
      onAppChanged = onChanged;
    },
    watchApplied(onEntry) {
      onApplied = onEntry;
    },
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
    seal: (days) => new Sealing(apps, ledger, dictionary, days, appliedSequence),
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

function createContents(dictionary: Dictionary, scheduler: Scheduler, room: ChangeRoom) {
  const ledger = new DayLedger();
  const apps = new Apps(dictionary, ledger, scheduler, room);
  const records = new RecordWriter(dictionary);
  return { dictionary, ledger, apps, records, batches: new BatchWriter(dictionary, ledger, records) };
}

function dayInMemory(entry: LedgerDay): DayInMemory {
  const { day, count, fixCount } = entry;
  return { day, records: count, besides: fixCount, isSealed: isSealed(entry) };
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
