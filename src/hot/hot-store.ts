import { WatchStore } from "../geofences/watch-store.ts";
import { assert } from "../lib/assert.ts";
import type { Scheduler } from "../lib/schedule/scheduler.ts";
import type { Steps } from "../lib/schedule/steps.ts";
import type { RecordMembers } from "../model/correction.ts";
import type { CorrectionEntry } from "../model/correction-entry.ts";
import type { DeviceAlias } from "../model/device-alias.ts";
import type { ErasureEntry } from "../model/erasure-entry.ts";
import type { AppId, DeviceId, UserId } from "../model/ids.ts";
import type { ReportBatch } from "../model/report-batch.ts";
import type { DeviceProfileEntry } from "../model/standing-entry.ts";
import type { TimeRange } from "../model/time/range.ts";
import { type UtcDay, utcDayStartMs } from "../model/time/utc-day.ts";
import type { WatchClockEntry } from "../model/watches/watch-clock-entry.ts";
import type { WatchEntry } from "../model/watches/watch-entry.ts";
import type { WebhookEntry } from "../model/webhooks/webhook-entry.ts";
import type { AppDevices } from "./app-devices.ts";
import { Apps, forgetDevices } from "./apps.ts";
import { type AppliedBatch, BatchWriter, type HiddenRecords, rowsWithoutRecord } from "./batch-writer.ts";
import { ChangeMarks } from "./change-marks.ts";
import { type ChangeRoom, createChangeRoom } from "./change-ring.ts";
import { DeviceProfiles } from "./device-profiles.ts";
import { Erasures } from "./erasures.ts";
import { AliasMover } from "./hidden/alias-mover.ts";
import { AliasRows } from "./hidden/alias-rows.ts";
import { applyCorrection, forgetCorrected } from "./hidden/apply-correction.ts";
import { CorrectedRows } from "./hidden/corrected-rows.ts";
import { Corrections, isAliasEffect } from "./hidden/corrections.ts";
import { followReport } from "./hidden/follow-report.ts";
import { rowsAfter } from "./hidden/held-correction.ts";
import { HiddenRows } from "./hidden/hidden-rows.ts";
import { type DeviceInDoubt, NewestInDoubt } from "./hidden/newest-in-doubt.ts";
import { type ReportWatch, ReportWatches, type WatchedRange } from "./hidden/report-watch.ts";
import { restoreCorrected } from "./hidden/restore-corrected.ts";
import { RowMover } from "./hidden/row-mover.ts";
import { DayLedger, isSealed, type LedgerDay, lateVersion } from "./late/day-ledger.ts";
import { holdsLate } from "./late/late-rows.ts";
import { createLateScans, type LateScans } from "./late-scans.ts";
import { applyErasure, knowsRecordsOf } from "./record-eraser.ts";
import { RecordWriter } from "./record-writer.ts";
import { Dictionary } from "./records/dictionary.ts";
import type { MemoryQuery, MemoryScan } from "./scan/memory-scan.ts";
import { Sealing } from "./sealing.ts";
import { WebhookStore } from "./webhook-store.ts";

/** Entries without reports that memory applies. */
export type HotEntry =
  | DeviceProfileEntry
  | CorrectionEntry
  | ErasureEntry
  | WatchEntry
  | WatchClockEntry
  | WebhookEntry;

/**
 * All records that are not archived, compressed, by app and device in time order; the newest record of every device,
 * archived or not; the profiles of devices; and the fences and alerts of apps. Records enter only by applying a batch
 * of reports, so replay and live traffic build the same store; they leave only by a seal.
 * Of a sealed day, memory has the late rows: what was reported since the seal. If the archive may have a record of the
 * same instant, the late row has only what its reports carried, to be merged into that record.
 */
export interface HotStore extends LateScans {
  readonly dictionary: Dictionary;
  /** Merges the batch of a log entry into the store, in order. Reports that the archive covers are skipped. */
  apply(appId: AppId, batch: ReportBatch, sequence: number): AppliedBatch;
  /** Notes reports that show in these ranges from now on, until the watch is ended. */
  watchReports(appId: AppId, ranges: readonly WatchedRange[]): ReportWatch;
  readonly profiles: DeviceProfiles;
  readonly watches: WatchStore;
  /** What fences and alerts have not seen yet. */
  marks(): ChangeMarks;
  readonly webhooks: WebhookStore;
  readonly corrections: Corrections;
  readonly erasures: Erasures;
  /**
   * Applies an entry without reports, unless the archive has it. Other than profiles take several steps; no other entry
   * may be applied between them.
   */
  applyStanding(entry: HotEntry, sequence: number): Steps<void>;
  /** Notes an entry that changes nothing here. */
  pass(sequence: number): void;
  /** The result of a batch that would change nothing; null if it would change anything. */
  findRepeated(appId: AppId, batch: ReportBatch): AppliedBatch | null;
  /** The first row of each instant in the range that has no record in memory. */
  rowsWithoutRecord(appId: AppId, batch: ReportBatch, range: TimeRange): number[];
  findApp(appId: AppId): AppDevices | null;
  apps(): Iterable<AppDevices>;
  /** Records in memory. */
  readonly recordCount: number;
  readonly deviceCount: number;
  /** Puts an entry of the archive's file back, before the newest archived records are restored. */
  restoreStanding(entry: Exclude<HotEntry, ErasureEntry>): void;
  /** Ends the restoring: entries up to this one are in memory. Call after `setSealed()`. */
  endRestoreStanding(sequence: number): void;
  /** The devices whose newest archived record a replay could not tell, by the name that they show as; forgets them. */
  takeInDoubt(): DeviceInDoubt[];
  /** Sets the newest archived record of such a device, if it is newer than the one that is known. */
  settleNewest(appId: AppId, deviceId: DeviceId, newest: RecordMembers): void;
  /** The hidden instants of an app, or of one of its devices; null if there are none. */
  hiddenRows(appId: AppId, deviceId: DeviceId | null): HiddenRows | null;
  /** The devices that show as others, of an app, or those that show as one of its devices. */
  aliases(appId: AppId, deviceId: DeviceId | null): readonly DeviceAlias[];
  /** The hidden records in memory of an app; null if it has none. */
  findHidden(appId: AppId): AppDevices | null;
  /** All places in memory that have an app's records as they were reported. */
  reportedPlaces(appId: AppId): readonly AppDevices[];
  /** What devices reported that show as others, of an app; null if there never were any. */
  findAliased(appId: AppId): AppDevices | null;
  /** Whether a device has records of a user in memory, or of archived ones its newest is known as the user's. */
  knowsRecordsOf(appId: AppId, userId: UserId, deviceId: DeviceId): boolean;
  /** The corrections as entries for a file of the archive, as they are now. */
  correctionEntries(): Iterable<CorrectionEntry>;
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
   * Sets which days are archived, each up to which log entry, whether the newest archived record of every device is
   * restored, and up to which log entry erasures are gone from the files of days. Call before the first `apply()`.
   */
  setSealed(
    sequences: ReadonlyMap<UtcDay, number>,
    hasAllNewest: boolean,
    cleared?: ReadonlyMap<UtcDay, number>,
  ): void;
  /** Restores the newest archived record of each device. Call before the first `apply()`. */
  restoreNewest(appId: AppId, batch: ReportBatch): void;
  /** The scan of a query, for the functions of `scan/`. */
  scan(query: MemoryQuery): MemoryScan;

  /** Days with records in memory, or with rows of corrections, sorted. */
  daysInMemory(): readonly DayInMemory[];
  /** Begins to move these days into the archive. One seal runs at a time. */
  seal(days: readonly UtcDay[]): Sealing;
  /** Whether memory has late rows of this sealed day, of any app. */
  holdsLate(day: UtcDay): boolean;
  /** Differs whenever the late rows of this sealed day may have changed. */
  lateVersion(day: UtcDay): string;
  /** Compresses records older than this that lie among many others, in steps. They then take a third of the memory. */
  pack(beforeMs: number): Iterable<void>;
  /** Drops indexes that no query used for an hour. */
  forgetIdle(): void;
  /** Forgets, in steps, what is in memory of corrections all of whose records are older than this and in no store. */
  forgetCorrected(beforeMs: number): Iterable<void>;
  /** Forgets devices without records in memory and with nothing newer than this, in steps. */
  forgetDevices(beforeMs: number): Iterable<void>;
}

export interface DayInMemory {
  readonly day: UtcDay;
  /** Less the rows of corrections. */
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
  let contents = createContents(firstDictionary, scheduler, room);
  let { dictionary, ledger, apps, records, batches, profiles, watches, corrections } = contents;
  const progress = new Progress();
  return {
    get dictionary() {
      return dictionary;
    },
    apply(appId, batch, sequence) {
      progress.expectReports(appId, batch, sequence, corrections);
      const app = apps.findOrAdd(appId);
      const { end } = app.changes;
      const applied = batches.apply(app, batch, sequence);
      progress.note(apps, sequence, app.changes.end > end ? appId : null);
      return applied;
    },
    marks: () => contents.marks,
    watchReports: (appId, ranges) => progress.watches.begin(appId, ranges),
    get profiles() {
      return profiles;
    },
    get watches() {
      return watches;
    },
    get webhooks() {
      return contents.webhooks;
    },
    get corrections() {
      return corrections;
    },
    erasures: contents.erasures,
    ...standingMethods(() => contents, progress),
    pass: (sequence) => progress.pass(apps, sequence),
    findRepeated(appId, batch) {
      const app = apps.find(appId);
      return app === null ? null : batches.findRepeated(app, batch);
    },
    rowsWithoutRecord: (appId, batch, range) => rowsWithoutRecord(apps.placesOf(appId), batch, range),
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
      contents.erasures.clear();
      contents = createContents(new Dictionary(), scheduler, room, contents);
      ({ dictionary, ledger, apps, records, batches, profiles, watches, corrections } = contents);
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
    scan({ devices, range, userId, accuracyMetersMax, originals = false }) {
      const user = () => (userId === null ? null : dictionary.findUser(userId));
      return { devices, range, filter: () => ({ accuracyMetersMax, user: user(), originals }), dictionary };
    },
    setSealed(sequences, hasAllNewest, cleared) {
      ledger.setSealed(sequences, cleared);
      records.hasAllNewest = hasAllNewest;
    },
    restoreNewest: (appId, batch) => batches.restoreNewest(apps.findOrAdd(appId), batch),
    daysInMemory: () => ledger.withRecords().map(dayInMemory),
    seal: (days) => new Sealing(apps, ledger, dictionary, contents.aliasRows, days, progress.sequence),
    holdsLate: (day) => holdsLate(ledger.of(day)),
    lateVersion: (day) => lateVersion(ledger.of(day)),
    ...createLateScans(() => contents),
    ...upkeepMethods(() => contents),
  };
}

type Contents = ReturnType<typeof createContents>;

/** The methods that free memory. */
function upkeepMethods(now: () => Contents): Pick<HotStore, "pack" | "forgetIdle" | "forgetDevices"> {
  return {
    *pack(beforeMs) {
      const { apps } = now();
      for (const { table } of [...apps.all(), ...apps.allUnseen()])
        yield* table.columns.tracks.pack(beforeMs);
    },
    forgetIdle() {
      const beforeMs = performance.now() - IDLE_MS_MAX;
      for (const { times } of now().apps.all()) times.forgetIdle(beforeMs);
    },
    forgetDevices(beforeMs) {
      const { apps, dictionary, corrections } = now();
      return forgetDevices(apps, dictionary, corrections, beforeMs);
    },
  };
}

type StandingMethods = Pick<
  HotStore,
  | "applyStanding"
  | "restoreStanding"
  | "takeInDoubt"
  | "settleNewest"
  | "endRestoreStanding"
  | "hiddenRows"
  | "aliases"
  | "findHidden"
  | "reportedPlaces"
  | "findAliased"
  | "knowsRecordsOf"
  | "correctionEntries"
  | "forgetCorrected"
>;

/** The methods about entries without reports. */
function standingMethods(now: () => Contents, progress: Progress): StandingMethods {
  return {
    *applyStanding(entry, sequence) {
      progress.expectNext(sequence);
      const { appId } = entry;
      const { apps, batches, profiles, watches, webhooks } = now();
      let isChanged = false;
      if (entry.kind === "correction") isChanged = yield* applyCorrection(now(), entry, sequence);
      else if (isOfWatches(entry)) yield* applyWatch(now(), entry, sequence);
      else if (entry.kind === "webhook") webhooks.apply(entry, sequence);
      else if (entry.kind === "erasure") {
        for (const store of [watches, webhooks]) store.erase(appId, entry.erasure, sequence);
        isChanged = yield* applyErasure(now(), entry, sequence);
      } else {
        profiles.apply(entry, sequence);
        const app = apps.find(appId);
        isChanged = app !== null && batches.noteProfile(app, entry.deviceId, sequence);
      }
      progress.note(apps, sequence, isChanged ? appId : null);
    },
    restoreStanding(entry) {
      const { profiles, watches, webhooks, corrections, mover, aliasMover } = now();
      if (isOfWatches(entry)) watches.restore(entry);
      else if (entry.kind === "webhook") webhooks.restore(entry);
      else if (entry.kind === "correction") {
        const effect = corrections.restore(entry);
        if (effect === null) return;
        if (isAliasEffect(effect)) aliasMover.restore(effect);
        else if (effect.type === "make") mover.restore(effect);
      } else profiles.restore(entry);
    },
    endRestoreStanding(sequence) {
      const { profiles, watches, webhooks, corrections } = now();
      for (const store of [profiles, watches, webhooks, corrections]) store.endRestore(sequence);
      for (const [appId, ofApp] of corrections.apps()) restoreCorrected(appId, ofApp, now());
    },
    takeInDoubt() {
      const { corrections, inDoubt } = now();
      return [...inDoubt.take()].map(({ appId, deviceId }) => {
        const shownId = corrections.find(appId)?.aliases.of(deviceId)?.shownId;
        return { appId, deviceId: shownId ?? deviceId };
      });
    },
    settleNewest(appId, deviceId, newest) {
      const { mover, aliasRows, records } = now();
      const { app, device } = aliasRows.place(appId, deviceId);
      mover.setNewest({ app, device }, deviceId, newest, true);
      aliasRows.borrow({ app, device });
      if (app.archivedRows.findNewest(device) === null) app.unlist(device);
      else records.showNewest(app, device);
    },
    knowsRecordsOf: (...ids) => knowsRecordsOf(now(), ...ids),
    hiddenRows(appId, deviceId) {
      const ofApp = now().corrections.find(appId);
      if (ofApp === null || ofApp.hidden.size === 0) return null;
      if (deviceId === null) return new HiddenRows(appId, ofApp, null);
      const onWay = ofApp.aliases.shownAs(deviceId).flatMap((alias) => [alias.deviceId, ...alias.via]);
      const ids = [...new Set([deviceId, ...onWay])].filter((id) => ofApp.hidden.has(id));
      return ids.length === 0 ? null : new HiddenRows(appId, ofApp, ids);
    },
    aliases(appId, deviceId) {
      const aliases = now().corrections.find(appId)?.aliases;
      if (aliases === undefined) return [];
      return deviceId === null ? aliases.all() : aliases.shownAs(deviceId);
    },
    findHidden: (appId) => now().apps.findHidden(appId),
    reportedPlaces: (appId) => now().apps.placesOf(appId),
    forgetCorrected(beforeMs) {
      const first = now()
        .ledger.withRecords()
        .find(({ count, correctedCount }) => count > correctedCount);
      const startMs = first === undefined ? beforeMs : Math.min(beforeMs, utcDayStartMs(first.day));
      return forgetCorrected(now(), startMs, progress.sequence);
    },
    findAliased: (appId) => now().apps.findAliased(appId),
    correctionEntries() {
      const { apps, corrections, corrected } = now();
      return corrections.entries((appId, item, from, to) => {
        const ofApp = corrections.find(appId);
        const app = apps.find(appId);
        if (app === null || ofApp?.byId.get(item.correction.id) !== item) return null;
        const rows = corrected.read(app, ofApp, item, from, to);
        return rows === null ? null : { rows, upTo: progress.sequence };
      });
    },
  };
}

function isOfWatches(entry: HotEntry): entry is WatchEntry | WatchClockEntry {
  return entry.kind === "watch" || entry.kind === "watch_clock";
}

function* applyWatch(
  { watches, marks }: Pick<Contents, "watches" | "marks">,
  entry: WatchEntry | WatchClockEntry,
  sequence: number,
): Steps<void> {
  if (entry.kind === "watch_clock") {
    watches.setClock(entry, sequence);
    marks.onNew();
    return;
  }
  yield* watches.apply(entry, sequence);
  marks.noteWatch(entry, sequence);
}

/** How far memory is in the log, and who is told. */
class Progress {
  /** Who notes reports that come. */
  readonly watches = new ReportWatches();
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

  expectReports(appId: AppId, batch: ReportBatch, sequence: number, corrections: Corrections): void {
    this.expectNext(sequence);
    this.watches.note(appId, batch, sequence, corrections.find(appId)?.aliases ?? null);
  }

  pass(apps: Apps, sequence: number): void {
    this.expectNext(sequence);
    this.note(apps, sequence, null);
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

function createContents(
  dictionary: Dictionary,
  scheduler: Scheduler,
  room: ChangeRoom,
  before: { readonly erasures: Erasures; readonly marks: ChangeMarks } | null = null,
) {
  const erasures = before?.erasures ?? new Erasures();
  const ledger = new DayLedger();
  const apps = new Apps(dictionary, ledger, scheduler, room);
  const records = new RecordWriter(dictionary);
  const corrections = new Corrections();
  const corrected = new CorrectedRows(apps, ledger, dictionary, corrections);
  const inDoubt = new NewestInDoubt();
  const hidden = hiddenRecords({ corrections, apps, ledger, dictionary, corrected });
  const aliasRows = new AliasRows(apps, ledger, dictionary, records, corrections, inDoubt);
  const watches = new WatchStore();
  const marks = new ChangeMarks(watches, before?.marks.decidedSequence);
  const mover = new RowMover(apps, ledger, records, dictionary, corrected, aliasRows, inDoubt);
  return {
    dictionary,
    ledger,
    apps,
    records,
    batches: new BatchWriter(dictionary, ledger, records, hidden, aliasRows, marks),
    profiles: new DeviceProfiles(),
    watches,
    marks,
    webhooks: new WebhookStore(),
    erasures,
    corrections,
    corrected,
    mover,
    inDoubt,
    aliasRows,
    aliasMover: new AliasMover(mover, aliasRows),
  };
}

interface Hiding {
  readonly corrections: Corrections;
  readonly apps: Apps;
  readonly ledger: DayLedger;
  readonly dictionary: Dictionary;
  readonly corrected: CorrectedRows;
}

/** Finds what corrections hide of an app. */
function hiddenRecords({ corrections, apps, corrected, ...stores }: Hiding): HiddenRecords {
  return {
    of(appId) {
      const ofApp = corrections.find(appId);
      if (ofApp === null || ofApp.hidden.size === 0) return null;
      return {
        app: apps.findOrAddHidden(appId),
        has: (deviceId, timestampMs) => ofApp.isHidden(deviceId, timestampMs),
        isFollowed: (deviceId, timestampMs) => rowsAfter(ofApp, deviceId, timestampMs).length > 0,
        follow(app, report) {
          const followed = followReport({ ...stores, app, ofApp, rows: corrected }, report);
          if (followed.isMerged) corrections.noteMerged(report.sequence);
          return followed.changed;
        },
      };
    },
  };
}

function dayInMemory(entry: LedgerDay): DayInMemory {
  const { day, count, correctedCount, fixCount } = entry;
  return { day, records: count - correctedCount, fixSize: fixCount, isSealed: isSealed(entry) };
}
