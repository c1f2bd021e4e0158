import type { Steps } from "../lib/schedule/steps.ts";
import { NUMBER_FIELDS } from "../model/location-fields.ts";
import type { ReportBatch } from "../model/report-batch.ts";
import type { AppDevices } from "./app-devices.ts";
import { isSealed, type LedgerDay, noteChange } from "./late/day-ledger.ts";
import { maskOf, numberAt, profileAt, setNumber, setTuples, stateAt, writeRow } from "./records/chunk.ts";
import type { Dictionary } from "./records/dictionary.ts";
import type { RowRef } from "./records/long-track.ts";

/** How one report gets into memory: as a record, or laid over the record of its instant. */

/** A report's profile and state as it carried them, in the dictionary's numbers. */
export interface CarriedTuples {
  profile: number;
  state: number;
}

/** Lays single reports, given as rows of a batch, over the records in memory. */
export class RecordWriter {
  /** Whether memory has the newest sealed record of every device. */
  hasAllNewest = true;
  /** Whether newest records are shown at the end, all at once. */
  showsAtEnd = false;
  readonly #dictionary: Dictionary;

  constructor(dictionary: Dictionary) {
    this.#dictionary = dictionary;
  }

  /** Lays a report of this day over what memory knows; false where it changed nothing. */
  write(
    app: AppDevices,
    device: number,
    day: LedgerDay,
    batch: ReportBatch,
    row: number,
    carried: CarriedTuples,
  ): boolean {
    const dictionary = this.#dictionary;
    const timestampMs = batch.timestampMs[row]!;
    const stored = app.table.columns.tracks.find(device, timestampMs);
    if (stored === null) {
      // Even a repeat of the sealed record goes in: the sealed row may be of an entry that the archive does not cover.
      const base =
        isSealed(day) && timestampMs === app.table.columns.sealedTimes.of(device)
          ? app.sealed.at(device)
          : null;
      this.#insert(app, device, day, base, batch, row, carried);
    } else {
      const profile = dictionary.mergeProfiles(profileAt(stored.chunk, stored.row), carried.profile);
      const state = dictionary.mergeStates(stateAt(stored.chunk, stored.row), carried.state);
      const isSame =
        profile === profileAt(stored.chunk, stored.row) &&
        state === stateAt(stored.chunk, stored.row) &&
        !carriesOtherNumbers(batch, row, stored);
      if (isSame) return false;
      this.#replace(app, device, stored, batch, row, profile, state);
    }
    noteChange(day);
    if (day.changed !== null) day.changed.note(app.table.byNumber(device), timestampMs);
    return true;
  }

  /** Whether a report says nothing that memory does not know: to write it would change nothing that is shown. */
  repeats(app: AppDevices, device: number, batch: ReportBatch, row: number): boolean {
    const timestampMs = batch.timestampMs[row]!;
    const inTrack = app.table.columns.tracks.find(device, timestampMs);
    const stored =
      inTrack === null && timestampMs === app.table.columns.sealedTimes.of(device)
        ? app.sealed.at(device)
        : inTrack;
    if (stored === null || carriesOtherNumbers(batch, row, stored)) return false;
    const [profile, state] = [profileAt(stored.chunk, stored.row), stateAt(stored.chunk, stored.row)];
    return !this.#dictionary.carriesOtherTexts(batch, row, profile, state);
  }

  /** The device has another newest record than before. */
  showNewest(app: AppDevices, device: number): void {
    if (this.showsAtEnd) return;
    const newest = app.sealed.newest(device);
    app.showNewest(device, newest, this.#dictionary.userOf(profileAt(newest.chunk, newest.row)));
  }

  /** The same of all devices, none of which was shown. */
  showAllNewest(app: AppDevices): Steps<void> {
    return app.showAll(({ chunk, row }) => this.#dictionary.userOf(profileAt(chunk, row)));
  }

  /** Takes in a record as the newest sealed one of its device. */
  restoreNewest(
    app: AppDevices,
    device: number,
    batch: ReportBatch,
    row: number,
    carried: CarriedTuples,
  ): void {
    const profile = this.#dictionary.asStored(carried.profile);
    app.sealed.write(device, batch, row, profile, carried.state);
    this.showNewest(app, device);
  }

  /** Adds a record, laid over `base`, the sealed record of the same instant where that is known. */
  #insert(
    app: AppDevices,
    device: number,
    day: LedgerDay,
    base: RowRef | null,
    batch: ReportBatch,
    row: number,
    carried: CarriedTuples,
  ): void {
    const dictionary = this.#dictionary;
    const timestampMs = batch.timestampMs[row]!;
    const mayHaveBase =
      isSealed(day) && (timestampMs < app.table.columns.sealedTimes.of(device) || !this.hasAllNewest);
    let { profile, state } = carried;
    let mask = maskOf(batch.numbers, row);
    if (base !== null) {
      profile = dictionary.mergeProfiles(profileAt(base.chunk, base.row), profile);
      state = dictionary.mergeStates(stateAt(base.chunk, base.row), state);
      mask |= base.chunk.mask;
    } else if (!mayHaveBase) {
      profile = dictionary.asStored(profile);
    }
    const inserted = app.table.columns.tracks.insert(device, timestampMs, mask);
    writeRow(inserted.chunk, inserted.row, timestampMs, batch.numbers, row);
    if (base !== null) fillNumbers(inserted, base);
    setTuples(inserted.chunk, inserted.row, profile, state);
    dictionary.retain(profile, state);
    app.recordCount++;
    day.count++;
    app.lateMinutes.note(day.day, timestampMs, device);
    app.times.note(day.day, timestampMs, device);
    app.users.countRecord(device, dictionary.userOf(profile));
  }

  /** Lays what the report carries over the stored record, which keeps the rest; its tuples become these. */
  #replace(
    app: AppDevices,
    device: number,
    stored: RowRef,
    batch: ReportBatch,
    row: number,
    profile: number,
    state: number,
  ): void {
    const dictionary = this.#dictionary;
    const widened = app.table.columns.tracks.widen(device, stored, maskOf(batch.numbers, row));
    for (let field = 0; field < NUMBER_FIELDS.length; field++) {
      const value = batch.numbers[field]![row]!;
      if (!Number.isNaN(value)) setNumber(widened.chunk, widened.row, field, value);
    }
    const oldProfile = profileAt(widened.chunk, widened.row);
    dictionary.retain(profile, state);
    dictionary.release(oldProfile, stateAt(widened.chunk, widened.row));
    setTuples(widened.chunk, widened.row, profile, state);
    const oldUser = dictionary.userOf(oldProfile);
    const user = dictionary.userOf(profile);
    if (user !== oldUser) {
      app.users.countRecord(device, user);
      app.users.discountRecord(device, oldUser);
    }
  }
}

/** Gives the record the number fields of `base` that it has not itself. */
function fillNumbers({ chunk, row }: RowRef, base: RowRef): void {
  for (let field = 0; field < NUMBER_FIELDS.length; field++) {
    const value = numberAt(base.chunk, base.row, field);
    if (!Number.isNaN(value) && Number.isNaN(numberAt(chunk, row, field)))
      setNumber(chunk, row, field, value);
  }
}

/** Whether the report carries a number that the stored record has not, or has otherwise. */
function carriesOtherNumbers(batch: ReportBatch, row: number, stored: RowRef): boolean {
  for (let field = 0; field < NUMBER_FIELDS.length; field++) {
    const value = batch.numbers[field]![row]!;
    if (!Number.isNaN(value) && value !== numberAt(stored.chunk, stored.row, field)) return true;
  }
  return false;
}
