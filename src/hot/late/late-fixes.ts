import { grown } from "../../lib/tables/columns.ts";
import { ACCURACY, IS_OF_FIX, isWorse, LATITUDE, LONGITUDE } from "../../model/fix.ts";
import { NUMBER_FIELDS } from "../../model/location-fields.ts";

// Fixes of one instant for which the archive may have a record that is not in memory. Which of two positions wins, and
// which fields of it stay, depends on that record, so all fixes are stored in log order until the record is read.

/** The number fields of a fix, in order, by their index in `NUMBER_FIELDS`. */
export const FIX_NUMBERS = NUMBER_FIELDS.flatMap((_, field) => (IS_OF_FIX[field] ? [field] : []));
/**
 * The cell after the numbers: 1 if `is_mock` is true, 0 if false. Each cell is NaN if the report didn't carry its
 * field.
 */
export const MOCK_CELL = FIX_NUMBERS.length;
export const FIX_CELLS = MOCK_CELL + 1;
const LATITUDE_CELL = FIX_NUMBERS.indexOf(LATITUDE);
const LONGITUDE_CELL = FIX_NUMBERS.indexOf(LONGITUDE);
const ACCURACY_CELL = FIX_NUMBERS.indexOf(ACCURACY);

export type Fix = Float64Array;

/**
 * The most fixes stored per instant. Devices send a handful; each further fix is merged into the last one, so that no
 * step of work takes longer than a batch.
 */
export const FIXES_MAX = 1024;
/** The size of an empty list, counted in records. */
const LIST_RECORDS = 4;

/** A day that counts the size of its lists. */
type CountingDay = { fixCount: number };

/** The fixes of one instant, in log order. */
export class FixList {
  readonly #day: CountingDay;
  #cells = new Float64Array(2 * FIX_CELLS);
  #count = 0;

  /** `day` counts the size of the list. */
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
   * Whether the fix changes nothing, whatever the archived record is. It repeats the last fix, or an earlier one such
   * that no fix after it has the same position or accuracy: that one has won or lost against those after it already.
   */
  repeats(fix: Fix): boolean {
    // Compares cells, not views of them: a batch may compare 10,000 fixes with 1024 each.
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

  /** Adds a fix that comes after all others. Fixes before index `mergeFrom` are not changed. */
  add(fix: Fix, mergeFrom: number): void {
    const last = this.#count > mergeFrom ? this.at(this.#count - 1) : null;
    if (last !== null && mayStandFor(last, fix)) merge(last, fix);
    else if (last !== null && this.#count >= FIXES_MAX) lay(last, fix);
    else this.#append(fix);
  }

  /** Removes the first fixes, which are archived. The last one stays, since merging it once more changes nothing. */
  removeFirst(count: number): void {
    const gone = Math.min(count, this.#count - 1);
    this.#cells = this.#cells.slice(gone * FIX_CELLS, Math.max(2, this.#count) * FIX_CELLS);
    this.#count -= gone;
    this.#day.fixCount -= gone;
  }

  /** Discounts the list from its day. Call once, when the list is dropped. */
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

/** The lists of an app, by device number and timestamp. Most apps have none. */
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

  /** Moves the list of an instant, if there is one, to another device of `target`. */
  move(device: number, timestampMs: number, target: LateFixes, to: number): void {
    const lists = this.#devices.get(device);
    const list = lists?.get(timestampMs);
    if (lists === undefined || list === undefined) return;
    lists.delete(timestampMs);
    if (lists.size === 0) this.#devices.delete(device);
    const others = target.#devices.get(to) ?? new Map<number, FixList>();
    others.set(timestampMs, list);
    target.#devices.set(to, others);
  }

  /** Drops the list of an instant, if there is one. */
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
 * Whether the earlier fix, once the later one is merged into it, can replace both, whatever record they meet: both have
 * one position, and if the earlier one loses against a record, so does the later one.
 */
export function mayStandFor(earlier: Fix, later: Fix): boolean {
  return hasSamePosition(earlier, later) && !isWorse(earlier[ACCURACY_CELL]!, later[ACCURACY_CELL]!);
}

function isSame(a: Fix, b: Fix): boolean {
  return a.every((value, cell) => Object.is(value, b[cell]));
}

/**
 * Whether the fix carries a field that the known one lacks or has with another value. A worse accuracy doesn't count.
 */
function carriesOther(known: Fix, fix: Fix): boolean {
  return fix.some((value, cell) => cell !== ACCURACY_CELL && !Number.isNaN(value) && value !== known[cell]);
}

/** Merges a fix into one at the same position. */
function merge(known: Fix, fix: Fix): void {
  for (let cell = 0; cell < FIX_CELLS; cell++) {
    const value = fix[cell]!;
    const isTaken = cell === ACCURACY_CELL ? isWorse(known[cell]!, value) : !Number.isNaN(value);
    if (isTaken && value !== known[cell]) known[cell] = value; // 0 and -0 are equal: the first one stays.
  }
}

function lay(known: Fix, fix: Fix): void {
  if (hasSamePosition(known, fix)) merge(known, fix);
  else if (!isWorse(fix[ACCURACY_CELL]!, known[ACCURACY_CELL]!)) known.set(fix);
}
