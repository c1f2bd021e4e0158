import { grown } from "../../lib/tables/columns.ts";
import { ACCURACY, IS_OF_FIX, isWorse, LATITUDE, LONGITUDE } from "../../model/fix.ts";
import { NUMBER_FIELDS } from "../../model/location-fields.ts";

/*
 * Fixes of one instant whose record in the archive memory does not know. Which of two positions wins, and which fields
 * of it stay, depends on that record, so each is kept in the order of the log until it is known.
 */

/** The number fields of a fix in order, by their index in `NUMBER_FIELDS`. */
export const FIX_NUMBERS = NUMBER_FIELDS.flatMap((_, field) => (IS_OF_FIX[field] ? [field] : []));
/** After them: 1 if `is_mock` is true, 0 if it is false. NaN, as of every field, if it was not carried. */
export const MOCK_CELL = FIX_NUMBERS.length;
export const FIX_CELLS = MOCK_CELL + 1;
const LATITUDE_CELL = FIX_NUMBERS.indexOf(LATITUDE);
const LONGITUDE_CELL = FIX_NUMBERS.indexOf(LONGITUDE);
const ACCURACY_CELL = FIX_NUMBERS.indexOf(ACCURACY);

/** The cells of one fix. */
export type Fix = Float64Array;

/**
 * The most fixes that are kept of one instant. Devices send a handful; from here on each is laid over the last one, so
 * that no step of work is longer than a batch.
 */
export const FIXES_MAX = 1024;
/** What a list takes besides its fixes, counted in records. */
const LIST_RECORDS = 4;

/** A day, which counts what is kept of it. */
type CountingDay = { fixCount: number };

/** The fixes of an instant, in the order of the log. */
export class FixList {
  readonly #day: CountingDay;
  #cells = new Float64Array(2 * FIX_CELLS);
  #count = 0;

  /** The day counts what the list takes. */
  constructor(day: CountingDay) {
    this.#day = day;
    day.fixCount += LIST_RECORDS;
  }

  get count(): number {
    return this.#count;
  }

  at(index: number): Fix {
    return this.#cells.subarray(index * FIX_CELLS, (index + 1) * FIX_CELLS);
  }

  /**
   * Whether the fix changes nothing, whatever the record in the archive is: it repeats the last one, or one before of
   * which none after has the position or the accuracy. Such a one lost or won against those after it, and would again.
   */
  repeats(fix: Fix): boolean {
    // Looks at cells, not at views of them: a batch may ask 10,000 times about 1024 fixes.
    const cells = this.#cells;
    const [latitude, longitude] = [fix[LATITUDE_CELL], fix[LONGITUDE_CELL]];
    const accuracyMeters = fix[ACCURACY_CELL];
    const last = this.#count - 1;
    for (let index = last; index >= 0; index--) {
      const start = index * FIX_CELLS;
      if (cells[start + LATITUDE_CELL] === latitude && cells[start + LONGITUDE_CELL] === longitude) {
        const known = this.at(index);
        return index === last ? mayStandFor(known, fix) && !carriesOther(known, fix) : isSame(known, fix);
      }
      if (Object.is(cells[start + ACCURACY_CELL], accuracyMeters)) return false;
    }
    return false;
  }

  /** Adds a fix that comes after all others. Those before `mergeFrom` stay as they are. */
  add(fix: Fix, mergeFrom: number): void {
    const last = this.#count > mergeFrom ? this.at(this.#count - 1) : null;
    if (last !== null && mayStandFor(last, fix)) merge(last, fix);
    else if (last !== null && this.#count >= FIXES_MAX) lay(last, fix);
    else this.#append(fix);
  }

  /** The archive has the first ones now. The last stays, since laying it over once more changes nothing. */
  removeFirst(count: number): void {
    const gone = Math.min(count, this.#count - 1);
    this.#cells = this.#cells.slice(gone * FIX_CELLS, Math.max(2, this.#count) * FIX_CELLS);
    this.#count -= gone;
    this.#day.fixCount -= gone;
  }

  /** The list is not used any more. */
  close(): void {
    this.#day.fixCount -= this.#count + LIST_RECORDS;
    this.#count = 0;
  }

  #append(fix: Fix): void {
    if ((this.#count + 1) * FIX_CELLS > this.#cells.length) this.#cells = grown(this.#cells);
    this.#cells.set(fix, this.#count * FIX_CELLS);
    this.#count++;
    this.#day.fixCount++;
  }
}

/** The lists of an app, by device number and timestamp; most apps have none. */
export class LateFixes {
  readonly #devices = new Map<number, Map<number, FixList>>();

  find(device: number, timestampMs: number): FixList | null {
    if (this.#devices.size === 0) return null;
    return this.#devices.get(device)?.get(timestampMs) ?? null;
  }

  create(device: number, timestampMs: number, day: CountingDay): FixList {
    let lists = this.#devices.get(device);
    if (lists === undefined) {
      lists = new Map();
      this.#devices.set(device, lists);
    }
    const list = new FixList(day);
    lists.set(timestampMs, list);
    return list;
  }

  /** Forgets the list of an instant, if there is one. */
  remove(device: number, timestampMs: number): void {
    if (this.#devices.size === 0) return;
    const lists = this.#devices.get(device);
    const list = lists?.get(timestampMs);
    if (lists === undefined || list === undefined) return;
    list.close();
    lists.delete(timestampMs);
    if (lists.size === 0) this.#devices.delete(device);
  }
}

function hasSamePosition(a: Fix, b: Fix): boolean {
  return a[LATITUDE_CELL] === b[LATITUDE_CELL] && a[LONGITUDE_CELL] === b[LONGITUDE_CELL];
}

/**
 * Whether a fix, with a later one laid over it, is the same as both, whatever they are laid over: they have one
 * position, and if the earlier one loses against a record, the later loses too.
 */
export function mayStandFor(earlier: Fix, later: Fix): boolean {
  return hasSamePosition(earlier, later) && !isWorse(earlier[ACCURACY_CELL]!, later[ACCURACY_CELL]!);
}

function isSame(a: Fix, b: Fix): boolean {
  return a.every((value, cell) => Object.is(value, b[cell]));
}

/** Whether the fix carries a field that the known one has not, or has otherwise; a worse accuracy is no other. */
function carriesOther(known: Fix, fix: Fix): boolean {
  return fix.some((value, cell) => cell !== ACCURACY_CELL && !Number.isNaN(value) && value !== known[cell]);
}

/** Lays a fix over one of the same position. */
function merge(known: Fix, fix: Fix): void {
  for (let cell = 0; cell < FIX_CELLS; cell++) {
    const value = fix[cell]!;
    const isTaken = cell === ACCURACY_CELL ? isWorse(known[cell]!, value) : !Number.isNaN(value);
    if (isTaken && value !== known[cell]) known[cell] = value; // Of 0 and -0, the first stays.
  }
}

function lay(known: Fix, fix: Fix): void {
  if (hasSamePosition(known, fix)) merge(known, fix);
  else if (!isWorse(fix[ACCURACY_CELL]!, known[ACCURACY_CELL]!)) known.set(fix);
}
