import type { DeviceAlias } from "../../model/device-alias.ts";
import type { AppId, DeviceId, UserId } from "../../model/ids.ts";
import type { AppDevices } from "../app-devices.ts";
import type { Apps } from "../apps.ts";
import { type DayLedger, isSealed, isWholeInMemory, noteChange } from "../late/day-ledger.ts";
import type { RecordWriter } from "../record-writer.ts";
import { profileAt, putRows, setTuples, stateAt, timestampAt } from "../records/chunk.ts";
import type { Dictionary } from "../records/dictionary.ts";
import type { RowRef } from "../records/long-track.ts";
import type { Aliases } from "./aliases.ts";
import { CopiedRows, type CopySource } from "./copied-rows.ts";
import type { Corrections } from "./corrections.ts";
import type { NewestInDoubt } from "./newest-in-doubt.ts";
import { type Place, STEP_ROWS, timesOf } from "./place.ts";

/** What the record of an instant was before a report: of the device's own, a copy, or not there. */
export type BeforeReport = "own" | "copy" | "none";

/**
 * Keeps, among the records that answers show, copies of what devices reported that show as others. What they reported
 * lies apart (`Apps.findAliased()`), where reports are merged and which seals archive; a copy follows its record. A
 * device's own record of an instant is shown instead of a copy.
 */
export class AliasRows {
  readonly #apps: Apps;
  readonly #ledger: DayLedger;
  readonly #dictionary: Dictionary;
  readonly #records: RecordWriter;
  readonly #corrections: Corrections;
  readonly #inDoubt: NewestInDoubt;
  readonly #copies = new WeakMap<AppDevices, CopiedRows>();

  constructor(
    apps: Apps,
    ledger: DayLedger,
    dictionary: Dictionary,
    records: RecordWriter,
    corrections: Corrections,
    inDoubt: NewestInDoubt,
  ) {
    this.#apps = apps;
    this.#ledger = ledger;
    this.#dictionary = dictionary;
    this.#records = records;
    this.#corrections = corrections;
    this.#inDoubt = inDoubt;
  }

  /** The device that others show as, among those that are visible. Valid for one step. */
  place(appId: AppId, deviceId: DeviceId): Place {
    const app = this.#apps.findOrAdd(appId);
    const device = app.findOrAdd(deviceId);
    this.copiesOf(app)?.watch(device, deviceId);
    return { app, device };
  }

  /** Where what a device reports lies while it shows as another. */
  aliasedPlace(appId: AppId, deviceId: DeviceId): Place {
    const app = this.#apps.findOrAddAliased(appId);
    return { app, device: app.findOrAdd(deviceId) };
  }

  /** Knows the copies among the records of an app; null if no device ever showed as another. */
  copiesOf(app: AppDevices): CopiedRows | null {
    const known = this.#copies.get(app);
    if (known !== undefined) return known;
    const aliased = this.#apps.findAliased(app.appId);
    const ofApp = this.#corrections.find(app.appId);
    if (aliased === null || ofApp === null) return null;
    const copies = new CopiedRows(app, aliased, ofApp.aliases, this.#ledger);
    this.#copies.set(app, copies);
    app.table.columns.copies = copies;
    return copies;
  }

  /** The devices of an app that show as others; null if there are none. */
  aliasesOf(appId: AppId): Aliases | null {
    const aliases = this.#corrections.find(appId)?.aliases;
    return aliases === undefined || aliases.size === 0 ? null : aliases;
  }

  before({ app, device }: Place, timestampMs: number): BeforeReport {
    if (app.table.columns.tracks.find(device, timestampMs) === null) return "none";
    return app.table.columns.copies?.has(device, timestampMs) === true ? "copy" : "own";
  }

  /** Removes the copy of an instant, because the device is about to get a record of its own. */
  giveWay(place: Place, timestampMs: number): void {
    if (this.before(place, timestampMs) === "copy") this.#remove(place, Float64Array.of(timestampMs));
  }

  /** Removes those records of some sorted instants that are copies. */
  removeCopies(place: Place, timestampMs: Float64Array): void {
    if (place.app.table.columns.copies === null) return;
    this.#remove(
      place,
      timestampMs.filter((timeMs) => this.before(place, timeMs) === "copy"),
    );
  }

  /** Copies what is reported for some sorted instants of a device that has no records of its own there. */
  copyAgain(place: Place, timestampMs: Float64Array): void {
    for (const timeMs of timestampMs) this.follow(place, timeMs, this.before(place, timeMs));
    this.borrow(place);
  }

  /** Notes that all records of some instants are the device's own. */
  noteAllOwn(place: Place, timestampMs: Float64Array): void {
    const { columns } = place.app.table;
    if (columns.copies === null || columns.copies.sourceCount(place.device) === 0) return;
    for (const timeMs of timestampMs)
      if (columns.tracks.find(place.device, timeMs) !== null) this.noteOwn(place, timeMs);
  }

  /** Notes that the device itself reported. */
  noteOwn({ app, device }: Place, timestampMs: number): void {
    const copies = this.copiesOf(app);
    if (isWholeInMemory(this.#ledger.at(timestampMs)) && copies?.findSource(device, timestampMs) != null)
      copies.noteOwn(device, timestampMs);
  }

  /** Makes the record of an instant a copy of what is reported by now, unless the device has one of its own. */
  follow(place: Place, timestampMs: number, before: BeforeReport): void {
    const { app, device } = place;
    if (!isWholeInMemory(this.#ledger.at(timestampMs))) {
      this.#borrowAt(place, timestampMs);
      return;
    }
    const copies = this.copiesOf(app)!;
    if (before === "own") {
      const isCorrected = app.table.columns.corrected.has(device, timestampMs);
      if (!isCorrected && copies.findSource(device, timestampMs) !== null)
        copies.noteOwn(device, timestampMs);
      return;
    }
    if (before === "copy") this.#remove(place, Float64Array.of(timestampMs));
    if (isSealed(this.#ledger.at(timestampMs))) {
      this.#borrowAt(place, timestampMs);
      return;
    }
    const isShown = (alias: DeviceAlias) => !this.#isHidden(app.appId, alias, timestampMs);
    const match = copies.findSource(device, timestampMs, isShown);
    if (match !== null) this.#insert(place, timestampMs, match.row, match.source.alias.userId);
  }

  /** Whether a correction hides an instant of any device that a record passes on its way. */
  #isHidden(appId: AppId, { via }: DeviceAlias, timestampMs: number): boolean {
    const ofApp = this.#corrections.find(appId)!;
    return via.some((deviceId) => ofApp.isHidden(deviceId, timestampMs));
  }

  /**
   * Makes the newest sealed record of the devices that show as this one its own newest archived record, if it is newer:
   * of sealed days there are no copies.
   */
  borrow({ app, device }: Place): void {
    for (const source of this.copiesOf(app)?.sourcesOf(device) ?? []) {
      const newest = this.#newestSealed(app, source, app.table.columns.archivedTimes.of(device));
      if (newest !== null) this.#borrow({ app, device }, source, newest);
    }
  }

  /** Like `borrow()`, but looks only at the records of an instant, one of which came or changed. */
  #borrowAt({ app, device }: Place, timestampMs: number): void {
    if (!isSealed(this.#ledger.at(timestampMs))) return;
    const isShown = (alias: DeviceAlias) => !this.#isHidden(app.appId, alias, timestampMs);
    const match = this.copiesOf(app)?.findSource(device, timestampMs, isShown) ?? null;
    if (match !== null) this.#borrow({ app, device }, match.source, match.row);
  }

  #borrow({ app, device }: Place, source: CopySource, record: RowRef): void {
    const timeMs = timestampAt(record.chunk, record.row);
    const knownMs = app.table.columns.archivedTimes.of(device);
    if (timeMs < knownMs || (timeMs === knownMs && !app.borrowed.has(device))) return;
    const { deviceId, userId } = source.alias;
    if (timeMs === knownMs) {
      const sources = this.copiesOf(app)!.sourcesOf(device);
      const lender = app.borrowed.get(device) ?? sources[0]!.alias.deviceId;
      const rank = sources.findIndex(({ alias }) => alias.deviceId === lender);
      if (rank >= 0 && rank < sources.indexOf(source)) return;
      if (lender === deviceId && this.#liesOverArchive(app.appId, source, timeMs)) {
        this.#records.layOverArchived(app, device, record, (profile) => this.#withUser(profile, userId));
        return;
      }
    }
    app.archivedRows.set(device, record, this.#withUser(profileAt(record.chunk, record.row), userId));
    app.borrowed.set(device, deviceId);
  }

  /** Whether a record in memory of a sealed day may lack what the archive's record of its instant has. */
  #liesOverArchive(appId: AppId, { device }: CopySource, timestampMs: number): boolean {
    const aliased = this.#apps.findOrAddAliased(appId);
    return (
      timestampMs < aliased.archivedEndMs(device) && aliased.findOwnArchived(device, timestampMs) === null
    );
  }

  /**
   * A device's newest record in memory of a sealed day that shows, or its newest archived one; null if there is none
   * since an instant.
   */
  #newestSealed({ appId }: AppDevices, { device, alias }: CopySource, sinceMs: number): RowRef | null {
    const { archivedRows, table } = this.#apps.findOrAddAliased(appId);
    const { tracks, archivedTimes } = table.columns;
    const archivedMs = archivedTimes.of(device);
    const isArchived = archivedMs > Number.NEGATIVE_INFINITY && archivedMs >= sinceMs;
    const showsArchived = isArchived && !this.#isHidden(appId, alias, archivedMs);
    if (isArchived && !showsArchived && this.#records.showsAtEnd) this.#inDoubt.add(appId, alias.shownId);
    for (let at = tracks.count(device) - 1; at >= 0; at--) {
      const record = tracks.at(device, at);
      const timeMs = timestampAt(record.chunk, record.row);
      if (timeMs < sinceMs || (showsArchived && timeMs < archivedMs)) break;
      const day = this.#ledger.at(timeMs);
      if (!isSealed(day)) at = tracks.countBefore(device, day.startMs);
      else if (!this.#isHidden(appId, alias, timeMs)) return record;
    }
    return showsArchived ? archivedRows.at(device) : null;
  }

  /** Copies what the devices reported that show as this one, in steps. */
  *copyAll(appId: AppId, deviceId: DeviceId): Iterable<number> {
    const sources = this.#corrections.find(appId)?.aliases.shownAs(deviceId) ?? [];
    for (const [at, source] of sources.entries()) {
      const higher = sources.slice(0, at);
      for (const times of this.#timesOf(appId, source.deviceId)) {
        const place = this.place(appId, deviceId);
        for (const timeMs of times) this.#copy(place, timeMs, source, higher);
        this.#dictionary.collect();
        yield times.length;
      }
    }
    const place = this.place(appId, deviceId);
    this.borrow(place);
    this.#dictionary.collect();
    yield 0;
  }

  /** Removes all copies of a device's records, in steps. */
  *removeAll(appId: AppId, deviceId: DeviceId): Iterable<number> {
    const sources = this.#corrections.find(appId)?.aliases.shownAs(deviceId) ?? [];
    for (const source of sources) {
      for (const times of this.#timesOf(appId, source.deviceId)) {
        this.removeCopies(this.place(appId, deviceId), times);
        this.#dictionary.collect();
        yield times.length;
      }
    }
    const { app, device } = this.place(appId, deviceId);
    this.copiesOf(app)?.forgetOwnOf(device);
  }

  /** Forgets the newest archived record of a device if that may be another's. */
  giveBack({ app, device }: Place): void {
    if (!app.borrowed.delete(device)) return;
    app.archivedRows.remove(device);
    if (this.#records.showsAtEnd) this.#inDoubt.add(app.appId, app.table.idOf(device));
  }

  /** Copies a record of a device, unless one of higher rank has a record of the instant, or the device itself has. */
  #copy(place: Place, timestampMs: number, source: DeviceAlias, higher: readonly DeviceAlias[]): void {
    if (!isWholeInMemory(this.#ledger.at(timestampMs))) return;
    const { app, device } = place;
    const { tracks, corrected } = app.table.columns;
    const aliased = this.#apps.findOrAddAliased(app.appId);
    const findAt = ({ deviceId }: DeviceAlias) => aliased.find(deviceId)?.findRecord(timestampMs) ?? null;
    const isShown = (alias: DeviceAlias) =>
      findAt(alias) !== null && !this.#isHidden(app.appId, alias, timestampMs);
    if (higher.some(isShown)) return;
    if (tracks.find(device, timestampMs) !== null) {
      if (!corrected.has(device, timestampMs)) this.copiesOf(app)?.noteOwn(device, timestampMs);
    } else if (isShown(source) && !isSealed(this.#ledger.at(timestampMs)))
      this.#insert(place, timestampMs, findAt(source)!, source.userId);
  }

  /** The times of what a device reported, some at a time. */
  *#timesOf(appId: AppId, deviceId: DeviceId): Iterable<Float64Array> {
    for (let fromMs = Number.NEGATIVE_INFINITY; ; ) {
      const app = this.#apps.findAliased(appId);
      const device = app?.find(deviceId) ?? null;
      if (app === null || device === null) return;
      const from = device.countBefore(fromMs);
      const to = Math.min(device.recordCount, from + STEP_ROWS);
      if (from >= to) return;
      const times = timesOf({ app, device: device.number }, from, to);
      yield times;
      fromMs = times.at(-1)! + 1;
    }
  }

  #insert({ app, device }: Place, timestampMs: number, { chunk, row }: RowRef, userId: UserId | null): void {
    const dictionary = this.#dictionary;
    const inserted = app.table.columns.tracks.insert(device, timestampMs, chunk.mask);
    putRows(inserted.chunk, inserted.row, chunk, row, row + 1);
    const [profile, state] = [this.#withUser(profileAt(chunk, row), userId), stateAt(chunk, row)];
    setTuples(inserted.chunk, inserted.row, profile, state);
    dictionary.retain(profile, state);
    const day = this.#ledger.at(timestampMs);
    app.recordCount++;
    day.count++;
    app.lateMinutes.note(day.day, timestampMs, device);
    app.times.note(day.day, timestampMs, device);
    app.users.countRecord(device, dictionary.userOf(profile));
    noteChange(day);
  }

  /** Removes the copies of some sorted instants. */
  #remove({ app, device }: Place, timestampMs: Float64Array): void {
    if (timestampMs.length === 0) return;
    const { tracks } = app.table.columns;
    for (const timeMs of timestampMs) {
      const { chunk, row } = tracks.find(device, timeMs)!;
      const profile = profileAt(chunk, row);
      app.users.discountRecord(device, this.#dictionary.userOf(profile));
      this.#dictionary.release(profile, stateAt(chunk, row));
      const day = this.#ledger.at(timeMs);
      app.recordCount--;
      day.count--;
      app.times.forget(day.day);
      noteChange(day);
    }
    const removed = new Set(timestampMs);
    const range = { startMs: timestampMs[0]!, endMs: timestampMs.at(-1)! + 1 };
    tracks.remove(device, range, (timeMs) => !removed.has(timeMs));
  }

  /** The profile of a record as it shows. */
  #withUser(profile: number, userId: UserId | null): number {
    return userId === null ? profile : this.#dictionary.withUser(profile, userId);
  }
}
