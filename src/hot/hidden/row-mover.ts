import { batchOfMembers, isOwn, type RecordMembers } from "../../model/correction.ts";
import type { AppId, DeviceId } from "../../model/ids.ts";
import type { UtcDay } from "../../model/time/utc-day.ts";
import type { AppDevices } from "../app-devices.ts";
import type { Apps } from "../apps.ts";
import { type DayLedger, isSealed, noteChange } from "../late/day-ledger.ts";
import type { RecordWriter } from "../record-writer.ts";
import { profileAt, putRows, stateAt } from "../records/chunk.ts";
import { NO_TUPLE } from "../records/counted-tuples.ts";
import type { Dictionary } from "../records/dictionary.ts";
import type { RowRef } from "../records/long-track.ts";
import type { AliasRows } from "./alias-rows.ts";
import type { CorrectedRows } from "./corrected-rows.ts";
import type { CorrectionEffect, DeviceTimes } from "./corrections.ts";
import { targetTimes } from "./held-correction.ts";
import type { NewestInDoubt } from "./newest-in-doubt.ts";
import { type Place, STEP_ROWS, slicesOf, timesOf } from "./place.ts";

/** A device after some of its records among those that are visible came or went. */
export interface ChangedPlace extends Place {
  readonly deviceId: DeviceId;
  /** How many. */
  readonly rows: number;
  /** Whether its newest record may be another one, also at the same time. */
  readonly hasOtherNewest: boolean;
}

/** Moves records in memory between those that are visible and those that corrections hide. */
export class RowMover {
  readonly #apps: Apps;
  readonly #ledger: DayLedger;
  readonly #records: RecordWriter;
  readonly #dictionary: Dictionary;
  readonly #corrected: CorrectedRows;
  readonly #aliasRows: AliasRows;
  readonly #inDoubt: NewestInDoubt;

  /** By device, the time of the newest archived record that `setNewest()` has set. */
  readonly #given = new WeakMap<AppDevices, Map<number, number>>();

  constructor(
    apps: Apps,
    ledger: DayLedger,
    records: RecordWriter,
    dictionary: Dictionary,
    corrected: CorrectedRows,
    aliasRows: AliasRows,
    inDoubt: NewestInDoubt,
  ) {
    this.#apps = apps;
    this.#ledger = ledger;
    this.#records = records;
    this.#dictionary = dictionary;
    this.#corrected = corrected;
    this.#aliasRows = aliasRows;
    this.#inDoubt = inDoubt;
  }

  /**
   * Moves what a correction or its undoing touches. Yields after some rows each device among those that are visible of
   * which records came or went; it is to be published.
   */
  *perform(effect: CorrectionEffect): Iterable<ChangedPlace> {
    const { type, appId, item, covered } = effect;
    const { id, deviceId, target } = item.correction;
    if (type === "undo" && target !== null) {
      for (const times of slicesOf(targetTimes(item)!)) {
        const visible = this.#visible(appId, target.deviceId);
        this.#corrected.remove(visible, times);
        yield this.#changed(visible, target.deviceId, times.length);
      }
    }
    for (const times of slicesOf(covered)) {
      const visible = this.#visible(appId, deviceId);
      if (type === "make") this.#corrected.cover(visible, times, id);
      else this.#corrected.uncover(visible, times, id);
      yield this.#changed(visible, deviceId, times.length);
    }
    for (const hidden of effect.hidden) yield* this.#moveReported(effect, hidden);
    yield* this.#insert(effect);
    const newest = [{ deviceId, record: effect.newest }];
    if (target !== null) newest.push({ deviceId: target.deviceId, record: effect.newestOfTarget });
    for (const { deviceId, record } of newest) {
      const visible = this.#visible(appId, deviceId);
      this.setNewest(visible, deviceId, record);
      yield { ...this.#changed(visible, deviceId, 0), hasOtherNewest: record !== null };
    }
  }

  /** Puts the rows of a correction that comes from a file into a memory without records. */
  restore(effect: CorrectionEffect): void {
    const { appId, item, covered } = effect;
    const { id, deviceId } = item.correction;
    if (covered.length > 0) this.#corrected.cover(this.#visible(appId, deviceId), covered, id);
    for (const _ of this.#insert(effect));
  }

  *#insert({ appId, item, rows }: CorrectionEffect): Iterable<ChangedPlace> {
    const { target } = item.correction;
    if (target === null) return;
    for (const batch of rows) {
      const visible = this.#visible(appId, target.deviceId);
      this.#corrected.insert(visible, batch);
      yield this.#changed(visible, target.deviceId, batch.count);
    }
  }

  /** Moves reported records of a device out of sight, or back. */
  *#moveReported(
    { type, appId }: CorrectionEffect,
    { deviceId, stage, timestampMs }: DeviceTimes,
  ): Iterable<ChangedPlace> {
    for (const times of slicesOf(timestampMs)) {
      const visible = this.#visible(appId, deviceId);
      const hidden = this.#apps.findOrAddHidden(appId);
      // At a stage records are copies, so nothing moves.
      const unseen = { app: hidden, device: hidden.findOrAdd(stage) };
      const [from, to] = type === "make" ? [visible, unseen] : [unseen, visible];
      if (type === "make") this.#aliasRows.removeCopies(visible, times);
      this.#moveRows(from, to, times);
      this.#moveArchived(from, to, times);
      if (type === "undo") {
        this.#aliasRows.noteAllOwn(visible, times);
        // Memory knows which of them are archived only if one of those was the newest.
        const archivedMs = times.findLast((timeMs) => isSealed(this.#ledger.at(timeMs)));
        if (archivedMs !== undefined) visible.app.archivedRows.noteEnd(visible.device, archivedMs + 1);
      }
      yield this.#changed(visible, deviceId, times.length);
    }
  }

  /**
   * Makes what shows as a device follow the records that a correction took away or brought back, after it did. Yields
   * like `perform()`.
   */
  *followAliases({ appId, hidden }: CorrectionEffect): Iterable<ChangedPlace> {
    for (const { deviceId, timestampMs } of hidden) {
      const aliases = this.#aliasRows.aliasesOf(appId);
      if (aliases === null || aliases.shownAs(deviceId).length === 0) continue;
      for (const times of slicesOf(timestampMs)) {
        const place = this.#aliasRows.place(appId, deviceId);
        this.#aliasRows.copyAgain(place, times);
        yield { ...this.#changed(place, deviceId, times.length), hasOtherNewest: true };
      }
    }
  }

  /** Moves all records of a device, in steps; yields how many. A place is valid for one step. */
  *moveDevice(from: () => Place, to: () => Place): Iterable<number> {
    for (;;) {
      const [source, target] = [from(), to()];
      const { tracks, corrected } = source.app.table.columns;
      const count = Math.min(STEP_ROWS, tracks.count(source.device));
      const times = timesOf(source, 0, count);
      if (count === 0) {
        this.#moveWholeArchived(source, target);
        yield 0;
        return;
      }
      const isCorrected = (timeMs: number) => corrected.has(source.device, timeMs);
      const [rows, reported] = [times.filter(isCorrected), times.filter((timeMs) => !isCorrected(timeMs))];
      this.#corrected.move(source, target, rows);
      if (reported.length > 0) this.#moveRows(source, target, reported);
      this.#dictionary.collect();
      yield count;
    }
  }

  #moveWholeArchived(from: Place, to: Place): void {
    to.app.archivedRows.noteEnd(to.device, from.app.archivedRows.endMs(from.device));
    const archivedMs = from.app.table.columns.archivedTimes.of(from.device);
    if (archivedMs === Number.NEGATIVE_INFINITY) return;
    if (!from.app.borrowed.has(from.device)) {
      to.app.archivedRows.set(to.device, from.app.archivedRows.at(from.device));
      to.app.borrowed.delete(to.device);
    }
    from.app.archivedRows.remove(from.device);
    from.app.borrowed.delete(from.device);
  }

  /** Valid for one step: a device without records may be forgotten after it. */
  #visible(appId: AppId, deviceId: DeviceId): Place {
    const app = this.#apps.findOrAdd(appId);
    return { app, device: app.findOrAdd(deviceId) };
  }

  #changed(place: Place, deviceId: DeviceId, rows: number): ChangedPlace {
    this.#dictionary.collect();
    return { ...place, deviceId, rows, hasOtherNewest: false };
  }

  /**
   * Whether the device's newest archived record comes from an entry of the log, not from the archive. A replay may set
   * one that a later erasure has destroyed.
   */
  hasGivenNewest({ app, device }: Place): boolean {
    return this.#given.get(app)?.get(device) === app.table.columns.archivedTimes.of(device);
  }

  /**
   * Sets a device's newest archived record, if it is newer than the one that is known; or as new, if the archive has it
   * as it is now: an entry of the log has it as it was.
   */
  setNewest(
    { app, device }: Place,
    deviceId: DeviceId,
    newest: RecordMembers | null,
    isAsArchived = false,
  ): void {
    const batch = newest === null ? null : batchOfMembers(deviceId, newest);
    if (newest === null || batch === null) return;
    const timeMs = batch.timestampMs[0]!;
    const day = this.#ledger.at(timeMs);
    // Memory has every record of other days.
    const knownMs = app.table.columns.archivedTimes.of(device);
    // At the same instant, a device's own record replaces one that it shows of another device.
    const isBetter = isAsArchived || (isOwn(newest) && app.borrowed.has(device));
    if (!isSealed(day) || timeMs < knownMs || (timeMs === knownMs && !isBetter)) return;
    const tuples = this.#dictionary.translate(batch);
    const carried = {
      profile: tuples.profiles.numberOf(batch.profile[0]!, NO_TUPLE),
      state: tuples.states.numberOf(batch.state[0]!, NO_TUPLE),
    };
    this.#records.setArchived(app, device, day, batch, 0, carried);
    const newestTimes = this.#given.get(app) ?? new Map<number, number>();
    this.#given.set(app, newestTimes.set(device, timeMs));
    // Otherwise it may be a record of a device that shows as this one.
    if (isOwn(newest) || (app.table.columns.copies?.sourceCount(device) ?? 0) === 0)
      app.borrowed.delete(device);
    else app.borrowed.set(device, null);
  }

  #moveRows(from: Place, to: Place, timestampMs: Float64Array): void {
    const { columns } = from.app.table;
    const moved = new Set<number>();
    const days = new Set<UtcDay>();
    for (const timeMs of timestampMs) {
      const row = columns.tracks.find(from.device, timeMs);
      if (row === null) continue;
      this.#copyRow(from, to, row, timeMs);
      moved.add(timeMs);
      days.add(this.#ledger.at(timeMs).day);
    }
    if (moved.size === 0) return;
    const range = { startMs: timestampMs[0]!, endMs: timestampMs.at(-1)! + 1 };
    columns.tracks.remove(from.device, range, (timeMs) => !moved.has(timeMs));
    for (const day of days) from.app.times.forget(day);
  }

  /** Destroys the records of some sorted instants. */
  drop({ app, device }: Place, timestampMs: Float64Array): void {
    if (timestampMs.length === 0) return;
    const { columns } = app.table;
    for (const timeMs of timestampMs) {
      const { chunk, row } = columns.tracks.find(device, timeMs)!;
      const day = this.#ledger.at(timeMs);
      day.changed?.leave(columns, device, timeMs, { chunk, row }, this.#dictionary);
      columns.fixes.remove(device, timeMs);
      app.users.discountRecord(device, this.#dictionary.userOf(profileAt(chunk, row)));
      this.#dictionary.release(profileAt(chunk, row), stateAt(chunk, row));
      app.recordCount--;
      day.count--;
      app.times.forget(day.day);
      noteChange(day);
    }
    const gone = new Set(timestampMs);
    const range = { startMs: timestampMs[0]!, endMs: timestampMs.at(-1)! + 1 };
    columns.tracks.remove(device, range, (timeMs) => !gone.has(timeMs));
  }

  /** Copies a row with all that is counted and noted of it; the row itself is removed later. */
  #copyRow(from: Place, to: Place, { chunk, row }: RowRef, timeMs: number): void {
    const day = this.#ledger.at(timeMs);
    const source = from.app.table.columns;
    const target = to.app.table.columns;
    day.changed?.leave(source, from.device, timeMs, { chunk, row }, this.#dictionary);
    const inserted = target.tracks.insert(to.device, timeMs, chunk.mask);
    putRows(inserted.chunk, inserted.row, chunk, row, row + 1);
    source.fixes.move(from.device, timeMs, target.fixes, to.device);
    day.changed?.arrive(target, to.device, timeMs);
    const user = this.#dictionary.userOf(profileAt(chunk, row));
    from.app.users.discountRecord(from.device, user);
    to.app.users.countRecord(to.device, user);
    from.app.recordCount--;
    to.app.recordCount++;
    to.app.lateMinutes.note(day.day, timeMs, to.device);
    to.app.times.note(day.day, timeMs, to.device);
    noteChange(day);
  }

  /** Moves the newest archived record, if it is touched. */
  #moveArchived(from: Place, to: Place, timestampMs: Float64Array): void {
    const archivedMs = from.app.table.columns.archivedTimes.of(from.device);
    if (archivedMs === Number.NEGATIVE_INFINITY || !timestampMs.includes(archivedMs)) return;
    const row = from.app.archivedRows.at(from.device);
    const isOwn = !from.app.borrowed.has(from.device);
    if (isOwn && archivedMs > to.app.table.columns.archivedTimes.of(to.device)) {
      to.app.archivedRows.set(to.device, row);
      to.app.borrowed.delete(to.device);
    }
    from.app.archivedRows.remove(from.device);
    from.app.borrowed.delete(from.device);
    if (this.#records.showsAtEnd && !from.app.isHidden)
      this.#inDoubt.add(from.app.appId, from.app.table.idOf(from.device));
  }
}
