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

/** How one report gets into memory: as a record, or laid over the record of its instant. */

/** A report's profile and state as it carried them, in the dictionary's numbers. */
export interface CarriedTuples {
  profile: number;
  state: number;
}

/**
 * What a report came to: a record, another record in place of the one of its instant, or nothing: it was known, or is
 * a fix of another position that the record's outranks.
 */
export type Written = "created" | "changed" | Unchanged;
export type Unchanged = "known" | "outranked";

/** Lays single reports, given as rows of a batch, over the records in memory. */
export class RecordWriter {
  /** Whether memory has the newest sealed record of every device. */
  hasAllNewest = true;
  /** Whether newest records are shown at the end, all at once. */
  showsAtEnd = false;
  readonly #dictionary: Dictionary;
  readonly #lateFixes: LateFixWriter;

  constructor(dictionary: Dictionary) {
    this.#dictionary = dictionary;
    this.#lateFixes = new LateFixWriter(dictionary);
  }

  /** Lays a report of this day over what memory knows. */
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
      // Even a repeat of the sealed record goes in: the sealed row may be of an entry that the archive does not cover.
      const base =
        isSealed(day) && timestampMs === app.table.columns.sealedTimes.of(device)
          ? app.sealed.at(device)
          : null;
      this.#insert(app, device, day, base, batch, row, carried);
      if (day.changed !== null) day.changed.noteNew(app.table.columns, device, timestampMs);
      noteChange(day);
      return "created";
    }
    const repeatsNumbers = !carriesOtherNumbers(batch, row, stored); // As nearly all that meet a record do.
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

  /** What a report comes to if writing it would change nothing; null if it would. */
  findUnchanged(
    app: AppDevices,
    device: number,
    day: LedgerDay,
    batch: ReportBatch,
    row: number,
  ): Unchanged | null {
    const timestampMs = batch.timestampMs[row]!;
    const inTrack = app.table.columns.tracks.find(device, timestampMs);
    const stored =
      inTrack === null && timestampMs === app.table.columns.sealedTimes.of(device)
        ? app.sealed.at(device)
        : inTrack;
    if (stored === null) return null;
    const laid = layFix(batch, row, stored);
    if (changesNumbers(batch, row, stored, laid)) return null;
    const [profile, state] = [profileAt(stored.chunk, stored.row), stateAt(stored.chunk, stored.row)];
    if (this.#dictionary.carriesOtherTexts(batch, row, profile, state, laid)) return null;
    if (inTrack === null || !liesOverArchive(day)) return unchangedBy(laid);
    const instant = { columns: app.table.columns, device, timestampMs, day };
    return this.#lateFixes.repeats(instant, stored, batch, row) ? unchangedBy(laid) : null;
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

  /** Lays what the report carries over the stored record, which keeps the rest; its tuples become these. */
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

/** Whether the report carries a number that the stored record has not, or has otherwise. */
function carriesOtherNumbers({ numbers }: ReportBatch, row: number, { chunk, row: at }: RowRef): boolean {
  for (let field = 0; field < NUMBER_FIELDS.length; field++) {
    const value = numbers[field]![row]!;
    if (!Number.isNaN(value) && value !== numberAt(chunk, at, field)) return true;
  }
  return false;
}

function layFix({ numbers }: ReportBatch, row: number, { chunk, row: at }: RowRef): LaidFix {
  return compareFixes(
    numberAt(chunk, at, LATITUDE),
    numberAt(chunk, at, LONGITUDE),
    numberAt(chunk, at, ACCURACY),
    numbers[LATITUDE]![row]!,
    numbers[LONGITUDE]![row]!,
    numbers[ACCURACY]![row]!,
  );
}

/** Lays the numbers of a report over a record, which has room for them. */
function layNumbers({ numbers }: ReportBatch, row: number, { chunk, row: at }: RowRef, laid: LaidFix): void {
  for (let field = 0; field < NUMBER_FIELDS.length; field++) {
    const value = numbers[field]![row]!;
    if (takes(field, value, numberAt(chunk, at, field), laid)) setNumber(chunk, at, field, value);
  }
}

/** Whether laying the report over the stored record changes any of its numbers. */
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

/** Whether a report's number, which is another than the record's, takes its place; NaN is no number. */
function takes(field: number, value: number, stored: number, laid: LaidFix): boolean {
  if (value === stored) return false;
  if (laid !== "merged" && IS_OF_FIX[field]!)
    return laid === "replaced" && !(Number.isNaN(value) && Number.isNaN(stored));
  if (field === ACCURACY) return isWorse(stored, value);
  return !Number.isNaN(value);
}

/** Turns a row with a report's numbers into that report laid over `base`. */
function fillNumbers({ chunk, row }: RowRef, base: RowRef, laid: LaidFix): void {
  for (let field = 0; field < NUMBER_FIELDS.length; field++) {
    const stored = numberAt(base.chunk, base.row, field);
    const value = numberAt(chunk, row, field);
    const isTaken = takes(field, value, stored, laid);
    if (!isTaken && hasField(chunk, field)) setNumber(chunk, row, field, stored);
  }
}
