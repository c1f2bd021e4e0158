import type { Steps } from "../lib/schedule/steps.ts";
import {
  ACCURACY,
  compareFixes,
  IS_OF_FIX,
  isWorse,
  LATITUDE,
  type LaidFix,
  LONGITUDE,
} from "../model/fix.ts";
import { NUMBER_FIELDS } from "../model/location-fields.ts";
import type { ReportBatch } from "../model/report-batch.ts";
import type { AppDevices } from "./app-devices.ts";
import { isSealed, type LedgerDay, noteChange } from "./late/day-ledger.ts";
import { LateFixWriter, liesOverArchive } from "./late/late-fix-writer.ts";
import {
  hasField,
  maskOf,
  numberAt,
  profileAt,
  setNumber,
  setTuples,
  stateAt,
  writeRow,
} from "./records/chunk.ts";
import type { Dictionary } from "./records/dictionary.ts";
import type { RowRef } from "./records/long-track.ts";

/** The profile and state that a report carries, by the dictionary's numbers. */
export interface CarriedTuples {
  profile: number;
  state: number;
}

/**
 * The effect of a report: it created a record, changed one, or changed nothing. Then it was known already, or its
 * position differs and the record's own outranks it.
 */
export type Written = "created" | "changed" | Unchanged;
export type Unchanged = "known" | "outranked";

/** Merges single reports, given as rows of a batch, into the records in memory. */
export class RecordWriter {
  /** Whether the newest archived record of every device was restored. */
  hasAllNewest = true;
  /** Whether newest records are published all together, at the end of a replay. */
  showsAtEnd = false;
  readonly #dictionary: Dictionary;
  readonly #lateFixes: LateFixWriter;

  constructor(dictionary: Dictionary) {
    this.#dictionary = dictionary;
    this.#lateFixes = new LateFixWriter(dictionary);
  }

  /** Merges a report of this day into memory. */
  write(
    app: AppDevices,
    device: number,
    day: LedgerDay,
    batch: ReportBatch,
    row: number,
    carried: CarriedTuples,
  ): Written {
    const timestampMs = batch.timestampMs[row]!;
    const stored = app.table.columns.tracks.find(device, timestampMs);
    if (stored === null) {
      // A repeat of the archived record is stored too: its row may be of an entry that the archive doesn't cover.
      const base = isSealed(day) ? app.findOwnArchived(device, timestampMs) : null;
      this.#insert(app, device, day, base, batch, row, carried);
      if (day.changed !== null) day.changed.noteNew(app.table.columns, device, timestampMs);
      noteChange(day);
      return "created";
    }
    const repeatsNumbers = !carriesOtherNumbers(batch, row, stored); // True for nearly all reports that meet a record.
    const laid = repeatsNumbers ? "merged" : layFix(batch, row, stored);
    const [storedProfile, storedState] = [
      profileAt(stored.chunk, stored.row),
      stateAt(stored.chunk, stored.row),
    ];
    const profile = this.#dictionary.mergeProfiles(storedProfile, carried.profile);
    const state = this.#dictionary.mergeStates(storedState, carried.state, laid);
    const isSame =
      profile === storedProfile &&
      state === storedState &&
      (repeatsNumbers || !changesNumbers(batch, row, stored, laid));
    if (liesOverArchive(day)) {
      const instant = { columns: app.table.columns, device, timestampMs, day };
      if (!this.#lateFixes.lay(instant, stored, batch, row, isSame)) return unchangedBy(laid);
    } else if (isSame) return unchangedBy(laid);
    if (!isSame) this.#replace(app, device, stored, batch, row, profile, state, laid);
    noteChange(day);
    return "changed";
  }

  /** The effect of a report that would change nothing; null if it would change anything. */
  findUnchanged(
    app: AppDevices,
    device: number,
    day: LedgerDay,
    batch: ReportBatch,
    row: number,
  ): Unchanged | null {
    const timestampMs = batch.timestampMs[row]!;
    const inTrack = app.table.columns.tracks.find(device, timestampMs);
    const stored = inTrack ?? app.findOwnArchived(device, timestampMs);
    if (stored === null || (inTrack !== null && app.table.columns.copies?.has(device, timestampMs) === true))
      return null;
    const laid = layFix(batch, row, stored);
    if (changesNumbers(batch, row, stored, laid)) return null;
    const [profile, state] = [profileAt(stored.chunk, stored.row), stateAt(stored.chunk, stored.row)];
    if (this.#dictionary.carriesOtherTexts(batch, row, profile, state, laid)) return null;
    if (inTrack === null || !liesOverArchive(day)) return unchangedBy(laid);
    const instant = { columns: app.table.columns, device, timestampMs, day };
    return this.#lateFixes.repeats(instant, stored, batch, row) ? unchangedBy(laid) : null;
  }

  /** Publishes the newest record of a device after it changed. */
  showNewest(app: AppDevices, device: number): void {
    if (this.showsAtEnd || app.isHidden || app.isAliased) return;
    const newest = app.archivedRows.newest(device);
    app.showNewest(device, newest, this.#dictionary.shownUserOf(profileAt(newest.chunk, newest.row)));
  }

  /** Publishes the newest records of all devices, none of which was published before. */
  showAllNewest(app: AppDevices): Steps<void> {
    return app.showAll(({ chunk, row }) => this.#dictionary.shownUserOf(profileAt(chunk, row)));
  }

  /**
   * Sets the newest archived record of a device, which is at least as new as the one that is known. If memory has a
   * late row of the same instant, that is merged into it.
   */
  setArchived(
    app: AppDevices,
    device: number,
    day: LedgerDay,
    batch: ReportBatch,
    row: number,
    carried: CarriedTuples,
  ): void {
    const { columns } = app.table;
    const timestampMs = batch.timestampMs[row]!;
    const profile = this.#dictionary.asStored(carried.profile);
    app.archivedRows.write(device, batch, row, profile, carried.state);
    const stored = columns.tracks.find(device, timestampMs);
    if (stored === null) return;
    const base = app.archivedRows.at(device);
    const { changed } = day;
    if (changed !== null && changed.savedOf(columns, device, timestampMs) === undefined)
      changed.save(columns, device, timestampMs, stored, this.#dictionary);
    this.#fill(app, device, stored, base);
    noteChange(day);
  }

  /** Merges a late row into the archived record of its instant, within the row. */
  #fill(app: AppDevices, device: number, stored: RowRef, base: RowRef): void {
    const dictionary = this.#dictionary;
    const at = (ref: RowRef, field: number) => numberAt(ref.chunk, ref.row, field);
    const widened = app.table.columns.tracks.widen(device, stored, base.chunk.mask);
    const laid = compareFixes(
      at(base, LATITUDE),
      at(base, LONGITUDE),
      at(base, ACCURACY),
      at(widened, LATITUDE),
      at(widened, LONGITUDE),
      at(widened, ACCURACY),
    );
    fillNumbers(widened, base, laid);
    const { chunk, row } = widened;
    const [oldProfile, oldState] = [profileAt(chunk, row), stateAt(chunk, row)];
    const profile = dictionary.mergeProfiles(profileAt(base.chunk, base.row), oldProfile);
    const state = dictionary.mergeStates(stateAt(base.chunk, base.row), oldState, laid);
    dictionary.retain(profile, state);
    dictionary.release(oldProfile, oldState);
    setTuples(chunk, row, profile, state);
    const [user, oldUser] = [dictionary.userOf(profile), dictionary.userOf(oldProfile)];
    if (user === oldUser) return;
    app.users.countRecord(device, user);
    app.users.discountRecord(device, oldUser);
  }

  /** Lays a late row over a device's newest archived record, which is of the same instant. */
  layOverArchived(
    app: AppDevices,
    device: number,
    late: RowRef,
    changeProfile: (profile: number) => number,
  ): void {
    const dictionary = this.#dictionary;
    const { chunk, row } = app.archivedRows.at(device);
    const numbers = NUMBER_FIELDS.map((_, field) => numberAt(late.chunk, late.row, field));
    const laid = compareFixes(
      numberAt(chunk, row, LATITUDE),
      numberAt(chunk, row, LONGITUDE),
      numberAt(chunk, row, ACCURACY),
      numbers[LATITUDE]!,
      numbers[LONGITUDE]!,
      numbers[ACCURACY]!,
    );
    for (const [field, value] of numbers.entries())
      if (takes(field, value, numberAt(chunk, row, field), laid)) setNumber(chunk, row, field, value);
    const [oldProfile, oldState] = [profileAt(chunk, row), stateAt(chunk, row)];
    const profile = changeProfile(dictionary.mergeProfiles(oldProfile, profileAt(late.chunk, late.row)));
    const state = dictionary.mergeStates(oldState, stateAt(late.chunk, late.row), laid);
    dictionary.retain(profile, state);
    dictionary.release(oldProfile, oldState);
    setTuples(chunk, row, profile, state);
  }

  /** Restores the newest archived record of a device. */
  restoreNewest(
    app: AppDevices,
    device: number,
    batch: ReportBatch,
    row: number,
    carried: CarriedTuples,
  ): void {
    const profile = this.#dictionary.asStored(carried.profile);
    app.archivedRows.write(device, batch, row, profile, carried.state);
    app.borrowed.delete(device);
    this.showNewest(app, device);
  }

  /** Creates a record, merged into a copy of `base`, the archived record of the same instant, if that is known. */
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
      isSealed(day) && (timestampMs < app.archivedEndMs(device) || app.isHidden || !this.hasAllNewest);
    let { profile, state } = carried;
    let mask = maskOf(batch.numbers, row);
    const laid = base === null ? "replaced" : layFix(batch, row, base);
    if (base !== null) {
      profile = dictionary.mergeProfiles(profileAt(base.chunk, base.row), profile);
      state = dictionary.mergeStates(stateAt(base.chunk, base.row), state, laid);
      mask |= base.chunk.mask;
    } else if (!mayHaveBase) {
      profile = dictionary.asStored(profile);
    }
    const inserted = app.table.columns.tracks.insert(device, timestampMs, mask);
    writeRow(inserted.chunk, inserted.row, timestampMs, batch.numbers, row);
    if (base !== null) fillNumbers(inserted, base, laid);
    setTuples(inserted.chunk, inserted.row, profile, state);
    dictionary.retain(profile, state);
    app.recordCount++;
    day.count++;
    app.lateMinutes.note(day.day, timestampMs, device);
    app.times.note(day.day, timestampMs, device);
    app.users.countRecord(device, dictionary.userOf(profile));
  }

  /** Merges the report's fields into the stored record and sets its merged profile and state. */
  #replace(
    app: AppDevices,
    device: number,
    stored: RowRef,
    batch: ReportBatch,
    row: number,
    profile: number,
    state: number,
    laid: LaidFix,
  ): void {
    const dictionary = this.#dictionary;
    const widened = app.table.columns.tracks.widen(device, stored, maskOf(batch.numbers, row));
    layNumbers(batch, row, widened, laid);
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

function unchangedBy(laid: LaidFix): Unchanged {
  return laid === "kept" ? "outranked" : "known";
}

/** Whether the report carries a number that the stored record lacks or has with another value. */
function carriesOtherNumbers({ numbers }: ReportBatch, row: number, { chunk, row: at }: RowRef): boolean {
  for (let field = 0; field < NUMBER_FIELDS.length; field++) {
    const value = numbers[field]![row]!;
    if (!Number.isNaN(value) && value !== numberAt(chunk, at, field)) return true;
  }
  return false;
}

/** How a report's fix compares with a record's. */
export function layFix({ numbers }: ReportBatch, row: number, { chunk, row: at }: RowRef): LaidFix {
  return compareFixes(
    numberAt(chunk, at, LATITUDE),
    numberAt(chunk, at, LONGITUDE),
    numberAt(chunk, at, ACCURACY),
    numbers[LATITUDE]![row]!,
    numbers[LONGITUDE]![row]!,
    numbers[ACCURACY]![row]!,
  );
}

/** Merges the numbers of a report into a record, which must have cells for them. */
function layNumbers({ numbers }: ReportBatch, row: number, { chunk, row: at }: RowRef, laid: LaidFix): void {
  for (let field = 0; field < NUMBER_FIELDS.length; field++) {
    const value = numbers[field]![row]!;
    if (takes(field, value, numberAt(chunk, at, field), laid)) setNumber(chunk, at, field, value);
  }
}

/** Whether merging the report changes a number of the stored record. */
function changesNumbers(
  { numbers }: ReportBatch,
  row: number,
  { chunk, row: at }: RowRef,
  laid: LaidFix,
): boolean {
  for (let field = 0; field < NUMBER_FIELDS.length; field++) {
    if (takes(field, numbers[field]![row]!, numberAt(chunk, at, field), laid)) return true;
  }
  return false;
}

/** Whether a report's number replaces the record's. NaN is a number that is not there. */
export function takes(field: number, value: number, stored: number, laid: LaidFix): boolean {
  if (value === stored) return false;
  if (laid !== "merged" && IS_OF_FIX[field]!)
    return laid === "replaced" && !(Number.isNaN(value) && Number.isNaN(stored));
  if (field === ACCURACY) return isWorse(stored, value);
  return !Number.isNaN(value);
}

/** Fills a row that has a report's numbers with those of `base` that win against it. */
function fillNumbers({ chunk, row }: RowRef, base: RowRef, laid: LaidFix): void {
  for (let field = 0; field < NUMBER_FIELDS.length; field++) {
    const stored = numberAt(base.chunk, base.row, field);
    const value = numberAt(chunk, row, field);
    const isTaken = takes(field, value, stored, laid);
    if (!isTaken && hasField(chunk, field)) setNumber(chunk, row, field, stored);
  }
}
