import type { DeviceAlias } from "../model/device-alias.ts";
import type { AppId, DeviceId } from "../model/ids.ts";
import type { ReportBatch } from "../model/report-batch.ts";
import type { TimeRange } from "../model/time/range.ts";
import type { AppDevices } from "./app-devices.ts";
import { BatchBlock, BLOCK_ROWS } from "./batch-block.ts";
import type { ChangeMarks } from "./change-marks.ts";
import { NO_DEVICE } from "./devices/device-table.ts";
import { NO_USER } from "./devices/users-of-app.ts";
import type { AliasRows } from "./hidden/alias-rows.ts";
import type { Aliases } from "./hidden/aliases.ts";
import type { Followed, FollowingReport } from "./hidden/follow-report.ts";
import type { ChangedPlace } from "./hidden/row-mover.ts";
import { type DayLedger, isSealed, type LedgerDay } from "./late/day-ledger.ts";
import type { RecordWriter, Written } from "./record-writer.ts";
import { timestampAt } from "./records/chunk.ts";
import { NO_TUPLE } from "./records/counted-tuples.ts";
import type { Dictionary } from "./records/dictionary.ts";

/** What a batch of reports changed. Accepted are new and changed records; duplicates changed nothing. */
export interface AppliedBatch {
  readonly accepted: number;
  readonly duplicates: number;
  /** How many accepted reports created a record in memory. The others changed one. */
  readonly created: number;
  /** How many duplicates have a position that differs from their record's, whose own outranks it. */
  readonly outranked: number;
  /** Rows of the batch that created a record of a sealed day. The archive may have that record too. */
  readonly createdLate: readonly number[];
}

interface Counts {
  accepted: number;
  created: number;
  outranked: number;
  readonly createdLate: number[];
}

/** Merges batches of reports into the records in memory. */
export class BatchWriter {
  readonly #dictionary: Dictionary;
  readonly #ledger: DayLedger;
  readonly #records: RecordWriter;
  readonly #hidden: HiddenRecords;
  readonly #aliasRows: AliasRows;
  readonly #marks: ChangeMarks;
  /** Whether apps remember what becomes visible. */
  keepsChanges = false;

  constructor(
    dictionary: Dictionary,
    ledger: DayLedger,
    records: RecordWriter,
    hidden: HiddenRecords,
    aliasRows: AliasRows,
    marks: ChangeMarks,
  ) {
    this.#dictionary = dictionary;
    this.#ledger = ledger;
    this.#records = records;
    this.#hidden = hidden;
    this.#aliasRows = aliasRows;
    this.#marks = marks;
  }

  /** Merges the batch of a log entry into the app's records, in order. Reports that the archive covers are skipped. */
  apply(app: AppDevices, batch: ReportBatch, sequence: number): AppliedBatch {
    const block = new BatchBlock(app, batch, sequence, this.#ledger, this.#dictionary);
    const counts: Counts = { accepted: 0, created: 0, outranked: 0, createdLate: [] };
    for (let from = 0; from < batch.count; from += BLOCK_ROWS) {
      const to = Math.min(from + BLOCK_ROWS, batch.count);
      block.moveTo(from, to);
      this.#applyBlock(app, batch, sequence, from, to, block, counts);
    }
    this.#dictionary.collect();
    return { ...counts, duplicates: batch.count - counts.accepted };
  }

  #applyBlock(
    app: AppDevices,
    batch: ReportBatch,
    sequence: number,
    from: number,
    to: number,
    block: BatchBlock,
    counts: Counts,
  ): void {
    const { devices, profiles, states } = block;
    const carried = { profile: 0, state: 0 };
    const newest: number[] = [];
    const unseen = this.#hidden.of(app.appId);
    const aliases = this.#aliasRows.aliasesOf(app.appId);
    const marks = this.#marks.of(app.appId, sequence);
    const isPlain = unseen === null && aliases === null;
    for (let row = from; row < to; row++) {
      const device = devices[row - from]!;
      const timestampMs = batch.timestampMs[row]!;
      if (device === NO_DEVICE) {
        // The archive had it before the watcher.
        marks?.note(shownIdOf(aliases, batch, row), timestampMs, sequence);
        continue;
      }
      carried.profile = profiles[row - from]!;
      carried.state = states[row - from]!;
      const day = this.#ledger.at(timestampMs);
      const deviceId = isPlain ? null : (batch.texts[batch.device[row]!] as DeviceId);
      const isHidden = deviceId !== null && unseen?.has(deviceId, timestampMs) === true;
      let visible = device;
      let written: Written;
      if (isHidden) {
        written = this.#records.write(unseen!.app, unseen!.app.findOrAdd(deviceId), day, batch, row, carried);
        this.#follow(app, unseen!, { deviceId, batch, row, carried, sequence }, newest);
      } else if (deviceId !== null && aliases !== null) {
        const report = { deviceId, batch, row, carried, sequence };
        const alias = aliases.of(deviceId);
        if (alias === null) written = this.#writeOwn(app, device, day, report);
        else {
          visible = this.#aliasRows.place(app.appId, alias.shownId).device;
          written = this.#writeAliased(app, alias, day, report);
          if (unseen !== null) this.#follow(app, unseen, report, newest);
        }
      } else written = this.#records.write(app, device, day, batch, row, carried);
      // The report may have added it.
      if ((isHidden || visible !== device) && !this.#records.showsAtEnd) unlistEmpty(app, device);
      if (written === "outranked") counts.outranked++;
      if (written === "outranked" || written === "known") continue;
      counts.accepted++;
      if (written === "created") {
        counts.created++;
        if (isSealed(day)) counts.createdLate.push(row);
      }
      if (!isHidden) marks?.note(shownIdOf(aliases, batch, row), timestampMs, sequence);
      if (this.#records.showsAtEnd) continue;
      if (isHidden) continue;
      app.touches.note(visible, sequence);
      if (timestampMs === app.table.columns.newestMs(visible) && visible !== newest.at(-1))
        newest.push(visible);
    }
    for (let at = 0; at < newest.length; at++) {
      if (this.keepsChanges) this.#noteChange(app, newest[at]!, sequence);
      this.#records.showNewest(app, newest[at]!);
    }
  }

  /** Merges a report of a device that shows as itself, and perhaps others as it. */
  #writeOwn(
    app: AppDevices,
    device: number,
    day: LedgerDay,
    { deviceId, batch, row, carried }: FollowingReport,
  ): Written {
    if (this.#aliasRows.aliasesOf(app.appId)!.shownAs(deviceId).length === 0)
      return this.#records.write(app, device, day, batch, row, carried);
    const place = this.#aliasRows.place(app.appId, deviceId);
    const timestampMs = batch.timestampMs[row]!;
    this.#aliasRows.giveWay(place, timestampMs);
    const written = this.#records.write(app, device, day, batch, row, carried);
    this.#aliasRows.noteOwn(place, timestampMs);
    return written;
  }

  /** Merges a report of a device that shows as another, and makes what shows there follow. */
  #writeAliased(
    { appId }: AppDevices,
    { shownId }: DeviceAlias,
    day: LedgerDay,
    { deviceId, batch, row, carried }: FollowingReport,
  ): Written {
    const place = this.#aliasRows.place(appId, shownId);
    const timestampMs = batch.timestampMs[row]!;
    const before = this.#aliasRows.before(place, timestampMs);
    const { app, device } = this.#aliasRows.aliasedPlace(appId, deviceId);
    const written = this.#records.write(app, device, day, batch, row, carried);
    if (written === "created" || written === "changed") this.#aliasRows.follow(place, timestampMs, before);
    if (place.app.archivedRows.findNewest(place.device) === null) unlistEmpty(place.app, place.device);
    return written;
  }

  /** Merges a report into what corrections show instead. Adds a device whose newest record changed. */
  #follow(app: AppDevices, unseen: HiddenOfApp, report: FollowingReport, newest: number[]): void {
    const changed = unseen.follow(app, report);
    if (changed === null) return;
    const { timestampMs, alias } = changed;
    let { device } = changed;
    const shownId = alias?.shownId ?? app.table.idOf(device);
    this.#marks.of(app.appId, report.sequence)?.note(shownId, timestampMs, report.sequence);
    if (alias !== null) {
      const place = this.#aliasRows.place(app.appId, alias.shownId);
      ({ device } = place);
      const before = this.#aliasRows.before(place, timestampMs);
      this.#aliasRows.follow(place, timestampMs, before);
    }
    if (this.#records.showsAtEnd) return;
    app.touches.note(device, report.sequence);
    if (timestampMs === app.table.columns.newestMs(device) && device !== newest.at(-1)) newest.push(device);
  }

  /** Records what the device was before the change, so call it before the change is visible. */
  #noteChange({ table, changes, positions }: AppDevices, number: number, sequence: number): void {
    const currentUser = table.columns.currentUsers.of(number);
    if (currentUser === NO_USER) changes.note(number, sequence, Number.NaN, Number.NaN, 0);
    else {
      const { byDevice } = positions;
      const userHash = this.#dictionary.userHash(currentUser);
      changes.note(number, sequence, byDevice.latitudeOf(number), byDevice.longitudeOf(number), userHash);
    }
  }

  /** Notes that a device looks different. Returns whether viewers are to be told. */
  noteProfile(app: AppDevices, deviceId: DeviceId, sequence: number): boolean {
    const device = app.table.numberOf(deviceId);
    if (device === NO_DEVICE || this.#records.showsAtEnd) return false;
    app.touches.note(device, sequence);
    if (!this.keepsChanges || app.table.columns.currentUsers.of(device) === NO_USER) return false;
    this.#noteChange(app, device, sequence);
    return true;
  }

  /** Publishes a device after a step of a correction that changes its records. */
  showCorrected({ app, device, hasOtherNewest }: ChangedPlace, view: CorrectedView): void {
    if (this.#records.showsAtEnd) return;
    const newest = app.archivedRows.findNewest(device);
    const newestMs = newest === null ? Number.NEGATIVE_INFINITY : timestampAt(newest.chunk, newest.row);
    const shownMs = app.newestTimes.of(device);
    view.beforeMs ??= shownMs;
    const isChanged = newestMs !== shownMs || hasOtherNewest;
    if (isChanged) {
      if (this.keepsChanges && !view.isChanged) this.#noteChange(app, device, view.sequence);
      view.isChanged = true;
    }
    if (newest === null) app.unlist(device);
    else if (isChanged) {
      if (newestMs < shownMs) app.noteOlder(device);
      this.#records.showNewest(app, device);
    }
  }

  /** Notes that a device was corrected, after the last step. Returns whether viewers are to be told. */
  noteCorrected(
    { app, device, deviceId }: ChangedPlace,
    { sequence, fromMs, beforeMs, isChanged }: CorrectedView,
  ): boolean {
    this.#marks.of(app.appId, sequence)?.note(deviceId, fromMs, sequence);
    if (this.#records.showsAtEnd) return false;
    app.touches.note(device, sequence);
    if (app.newestTimes.of(device) < beforeMs!) app.olderSince.set(device, sequence);
    return isChanged && this.keepsChanges;
  }

  /** The result of a batch that only repeats what memory has of the app; null if the batch would change anything. */
  findRepeated(app: AppDevices, batch: ReportBatch): AppliedBatch | null {
    let outranked = 0;
    const unseen = this.#hidden.of(app.appId);
    for (let row = 0; row < batch.count; row++) {
      const deviceId = batch.texts[batch.device[row]!] as DeviceId;
      const isHidden = unseen?.has(deviceId, batch.timestampMs[row]!) === true;
      const isAliased = this.#aliasRows.aliasesOf(app.appId)?.of(deviceId) != null;
      if ((isHidden || isAliased) && unseen?.isFollowed(deviceId, batch.timestampMs[row]!)) return null;
      const reported = isAliased ? this.#aliasRows.aliasedPlace(app.appId, deviceId).app : app;
      const place = isHidden ? unseen!.app : reported;
      const device = place.table.numberOf(deviceId);
      if (device === NO_DEVICE) return null;
      const day = this.#ledger.at(batch.timestampMs[row]!);
      const unchanged = this.#records.findUnchanged(place, device, day, batch, row);
      if (unchanged === null) return null;
      if (unchanged === "outranked") outranked++;
    }
    return { accepted: 0, duplicates: batch.count, created: 0, outranked, createdLate: [] };
  }

  /** Restores the newest archived records of devices. If a device has several, the newest wins. */
  restoreNewest(app: AppDevices, batch: ReportBatch): void {
    const tuples = this.#dictionary.translate(batch);
    const carried = { profile: 0, state: 0 };
    const unseen = this.#hidden.of(app.appId);
    for (let row = 0; row < batch.count; row++) {
      const deviceId = batch.texts[batch.device[row]!] as DeviceId;
      const isAliased = this.#aliasRows.aliasesOf(app.appId)?.of(deviceId) != null;
      const reported = isAliased ? this.#aliasRows.aliasedPlace(app.appId, deviceId).app : app;
      const place = unseen?.has(deviceId, batch.timestampMs[row]!) === true ? unseen.app : reported;
      const device = place.findOrAdd(deviceId);
      if (batch.timestampMs[row]! < place.table.columns.archivedTimes.of(device)) continue;
      carried.profile = tuples.profiles.numberOf(batch.profile[row]!, NO_TUPLE);
      carried.state = tuples.states.numberOf(batch.state[row]!, NO_TUPLE);
      this.#records.restoreNewest(place, device, batch, row, carried);
    }
    this.#dictionary.collect();
  }
}

/** How a device was published while the correction of an entry changed its records. */
export interface CorrectedView {
  readonly sequence: number;
  /** The earliest instant of the records that changed. */
  readonly fromMs: number;
  /** The time of the newest record before the first step; null until then. */
  beforeMs: number | null;
  /** Whether the newest record changed. */
  isChanged: boolean;
}

/** The records of one app that corrections hide. */
export interface HiddenOfApp {
  readonly app: AppDevices;
  /** Whether a device's record of this instant is hidden. */
  has(deviceId: DeviceId, timestampMs: number): boolean;
  /** Whether corrections show, or will show again, another row instead of a record. */
  isFollowed(deviceId: DeviceId, timestampMs: number): boolean;
  /** Merges a report into these rows. Returns the record that answers show if that changed. */
  follow(app: AppDevices, report: FollowingReport): Followed["changed"];
}

export interface HiddenRecords {
  /** Null if no correction hides a record of the app. */
  of(appId: AppId): HiddenOfApp | null;
}

/** The device as which a report shows. */
function shownIdOf(aliases: Aliases | null, { texts, device }: ReportBatch, row: number): DeviceId {
  const deviceId = texts[device[row]!] as DeviceId;
  return aliases?.of(deviceId)?.shownId ?? deviceId;
}

/** Takes a device without a record out of all answers. */
function unlistEmpty(app: AppDevices, device: number): void {
  if (app.archivedRows.findNewest(device) === null) app.unlist(device);
}

/** The first row of each instant in the range that has no record in any of some places. */
export function rowsWithoutRecord(
  places: readonly AppDevices[],
  { count, texts, device, timestampMs }: ReportBatch,
  { startMs, endMs }: TimeRange,
): number[] {
  const rows = new Map<string, number>();
  for (let row = 0; row < count; row++) {
    if (timestampMs[row]! < startMs || timestampMs[row]! >= endMs) continue;
    const has = (place: AppDevices) => {
      const match = place.find(texts[device[row]!]!);
      if (match === null || match.findRecord(timestampMs[row]!) === null) return false;
      const { corrected, copies } = match.columns;
      return !(
        corrected.has(match.number, timestampMs[row]!) || copies?.has(match.number, timestampMs[row]!)
      );
    };
    if (places.some(has)) continue;
    const instant = `${device[row]} ${timestampMs[row]}`;
    if (!rows.has(instant)) rows.set(instant, row);
  }
  return [...rows.values()];
}
