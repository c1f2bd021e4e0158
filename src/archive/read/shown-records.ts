import { countBefore, hasNumber } from "../../lib/tables/sorted-numbers.ts";
import type { DeviceId } from "../../model/ids.ts";
import type { Order, TimeRange } from "../../model/time/range.ts";
import type { UtcDay } from "../../model/time/utc-day.ts";
import type { Rows } from "../duckdb/database.ts";
import {
  type ArchiveScan,
  type HiddenKeys,
  hasAliases,
  rangeOfDays,
  type ScanDay,
  scanDays,
} from "./archive-scan.ts";
import { canMergeRows, FewLateRows, NO_ROWS, readFewLateRows, showingFixes } from "./few-late-rows.ts";
import { findRecords, narrowed, stretchOf } from "./find-records.ts";
import { DEVICE_COLUMN, TIME_COLUMN } from "./record-rows.ts";
import type { ScanRunner, Stretch } from "./scan-runner.ts";
import { ARCHIVED_TIMES_STATEMENT, COUNT_STATEMENT, recordsStatement } from "./scan-sql.ts";

// Records without those that corrections hide, and with few late rows merged in. Both are done here, with the rows of
// plain statements: a statement that does it would need keys and late rows in a table first, and could not stop at the
// page's end.

/** Days of one device with hidden records or late rows whose times are read together. */
const CHANGED_DAYS_MAX = 16;
/**
 * How many records, hidden or before the page, a statement may read in vain: reading the times of a day takes about as
 * long.
 */
const ROWS_IN_VAIN_MAX = 256;
/** How many the first attempt may read in vain if it is not known how many there are. */
const HIDDEN_ROWS_FIRST = 16;

/** The keys to drop from a scan's rows; null if it hides none, or its statements leave them out. */
export function droppedKeysOf(scan: ArchiveScan): DroppedKeys | null {
  const { hidden, late } = scan;
  // Late rows may show at instants whose archived record is hidden.
  if (late !== null || hasAliases(scan) || hidden?.timesOf === undefined) return null;
  return { timesOf: hidden.timesOf };
}

export type DroppedKeys = Required<Pick<HiddenKeys, "timesOf">>;

const NONE = new Float64Array(0);

/** Reads a page with a statement that leaves out records itself. */
export type FindInTable = (
  scan: ArchiveScan,
  order: Order,
  offset: number,
  limit: number,
) => AsyncIterable<Rows>;

/** Some days of a scan, one after the other: all with hidden records or late rows, or all without. */
interface DayGroup {
  /** Reads these days without hidden keys and late rows. */
  readonly scan: ArchiveScan;
  /** Like `scan`, but with hidden keys and late rows; null if these days have none. */
  readonly changed: ArchiveScan | null;
  readonly days: readonly ScanDay[];
  readonly late: FewLateRows;
  /** Times of a device's shown records, sorted, once they are read. */
  shown: Promise<Float64Array> | null;
  /** How many records it shows, once that is known. */
  count: number | null;
}

/** Reads scans with hidden keys or few late rows. */
export class ShownRecords {
  readonly #runner: ScanRunner;
  readonly #findInTable: FindInTable;
  /** The days of the scan that was asked for last: a page is mostly followed by a count. */
  #last: { readonly scan: ArchiveScan; readonly groups: Promise<readonly DayGroup[] | null> } | null = null;

  constructor(runner: ScanRunner, findInTable: FindInTable) {
    this.#runner = runner;
    this.#findInTable = findInTable;
  }

  /** The rows of a page, in order; null if there is nothing to merge or to drop, or if only a statement can do it. */
  async page(
    scan: ArchiveScan,
    order: Order,
    offset: number,
    limit: number,
  ): Promise<AsyncIterable<Rows> | null> {
    // Only statements count records of several devices.
    const groups = scan.deviceId === null && offset > 0 ? null : await this.#groupsOf(scan);
    return groups && this.#page(groups, order, offset, limit);
  }

  /** How many records a scan shows; null if a statement must count them. */
  async count(scan: ArchiveScan): Promise<number | null> {
    const groups = scan.deviceId === null ? null : await this.#groupsOf(scan);
    if (groups === null) return null;
    let count = 0;
    for (const group of groups) count += await this.#countOf(group);
    return count;
  }

  async *#page(
    groups: readonly DayGroup[],
    order: Order,
    offset: number,
    limit: number,
  ): AsyncIterable<Rows> {
    let skip = offset;
    let room = limit;
    for (const group of order === "asc" ? groups : groups.toReversed()) {
      if (room === 0) return;
      let count = 0;
      for await (const rows of this.#pageOf(group, order, skip, room)) {
        yield rows;
        count += rows.count;
      }
      room -= count;
      // If there is no record, the offset may be beyond the group; only counting tells how far.
      skip = count > 0 || skip === 0 ? 0 : Math.max(0, skip - (await this.#countOf(group)));
    }
  }

  #groupsOf(scan: ArchiveScan): Promise<readonly DayGroup[] | null> {
    if (this.#last?.scan !== scan) this.#last = { scan, groups: groupsOf(scan) };
    return this.#last.groups;
  }

  async *#pageOf(group: DayGroup, order: Order, skip: number, room: number): AsyncIterable<Rows> {
    const { scan, changed } = group;
    if (changed === null) {
      yield* findRecords(this.#runner, scan, order, skip, room);
      return;
    }
    if (group.count !== null && group.count <= skip) return;
    const first = await this.#tryFirst(group, order, skip, room);
    if (first !== null) yield* first;
    else if (scan.deviceId === null) yield* this.#findInTable(changed, order, skip, room);
    else yield* this.#pageByTimes(group, hiddenTimesOf(changed, scan.deviceId), order, skip, room);
  }

  /** A page of the first records, from some more than those; null if there would have to be many more. */
  async #tryFirst(group: DayGroup, order: Order, skip: number, room: number): Promise<Rows[] | null> {
    const { deviceId } = group.scan;
    if (deviceId !== null) {
      const { length } = hiddenTimesOf(group.changed!, deviceId);
      if (skip + length > ROWS_IN_VAIN_MAX) return null;
      return withoutFirst((await this.#first(group, order, skip + room, length)).results, skip);
    }
    const { results, visible, isEnough } = await this.#first(group, order, room, HIDDEN_ROWS_FIRST);
    if (isEnough) return results;
    const density = visible / (room + HIDDEN_ROWS_FIRST);
    const surplus = Math.ceil((1.5 * room) / density) - room;
    if (surplus > ROWS_IN_VAIN_MAX) return null;
    const again = await this.#first(group, order, room, surplus);
    return again.isEnough ? again.results : null;
  }

  /** The first records of as many rows and a surplus; `isEnough` says whether the rest does not matter. */
  async #first(group: DayGroup, order: Order, room: number, surplus: number) {
    const { scan, late } = group;
    const merger = late.merger(order, scan.deviceId);
    const results: Rows[] = [];
    let [read, visible] = [0, 0];
    const add = (rows: Rows) => {
      const some = firstRows(rows, room - visible);
      results.push(some);
      visible += some.count;
    };
    for await (const rows of findRecords(this.#runner, scan, order, 0, room + surplus)) {
      add(merger.merge(this.#drop(rows, group), rows));
      read += rows.count;
    }
    const isWhole = read < room + surplus;
    if (isWhole) add(merger.rest());
    if (isWhole && visible < room) group.count = visible;
    return { results, visible, isEnough: isWhole || visible === room };
  }

  /** A device's records by their times, which are read first. */
  async *#pageByTimes(
    group: DayGroup,
    hidden: Float64Array,
    order: Order,
    skip: number,
    room: number,
  ): AsyncIterable<Rows> {
    const times = await this.#shownOf(group);
    const end = Math.max(0, times.length - skip);
    const page =
      order === "asc" ? times.subarray(skip, skip + room) : times.subarray(Math.max(0, end - room), end);
    const ranges = rangesOf(page, hidden);
    const { scan, days } = group;
    const whole = days.length === 0 ? { scan, days, range: scan.range } : stretchOf(scan, days);
    for (const range of order === "asc" ? ranges : ranges.reverse()) {
      const late = group.late.within(range).merger(order, scan.deviceId);
      const rows = await this.#read(narrowed(whole, range), order, range.rows);
      yield late.merge(this.#drop(rows, group), rows);
      yield late.rest();
    }
  }

  async #read(stretch: Stretch, order: Order, limit: number): Promise<Rows> {
    if (stretch.days.length === 0) return NO_ROWS;
    return this.#runner.run(stretch, recordsStatement(order), { limit: BigInt(limit), offset: 0n });
  }

  #drop(rows: Rows, { changed, scan }: DayGroup): Rows {
    const timesOf = changed?.hidden?.timesOf;
    return timesOf === undefined
      ? rows
      : withoutHidden(rows, { timesOf }, scan.deviceId, TIME_COLUMN, DEVICE_COLUMN);
  }

  async #countOf(group: DayGroup): Promise<number> {
    group.count ??= await this.#count(group);
    return group.count;
  }

  async #count(group: DayGroup): Promise<number> {
    if (group.changed !== null) return (await this.#shownOf(group)).length;
    const rows = await this.#runner.run(stretchOf(group.scan, group.days), COUNT_STATEMENT);
    return rows.numbers(0)[0]!;
  }

  #shownOf(group: DayGroup): Promise<Float64Array> {
    group.shown ??= this.#readTimes(group);
    return group.shown;
  }

  async #readTimes({ scan, days, changed, late }: DayGroup): Promise<Float64Array> {
    if (days.length === 0) return late.times;
    const hidden = hiddenTimesOf(changed!, scan.deviceId!);
    const rows = await this.#runner.run(stretchOf(scan, days), ARCHIVED_TIMES_STATEMENT);
    const archived = rows
      .numbers(0)
      .filter((timeMs) => !hasNumber(hidden, timeMs) && !hasNumber(late.times, timeMs));
    const times = new Float64Array(archived.length + late.count);
    times.set(archived);
    times.set(late.times, archived.length);
    return times.sort();
  }
}

/** Null if there is nothing to merge or to drop, or if only a statement can do it. */
async function groupsOf(scan: ArchiveScan): Promise<readonly DayGroup[] | null> {
  const { hidden = null, late } = scan;
  if (late === null ? droppedKeysOf(scan) === null : !canMergeRows(scan)) return null;
  const rows = late === null ? FewLateRows.NONE : await readFewLateRows(late);
  if (rows === null) return null;
  const changedDays = new Set([...(hidden?.days ?? []), ...(late?.days ?? [])]);
  return runsOf(scan, changedDays).map((days) => groupOf(scan, days, rows, changedDays.has(days[0]!.day)));
}

/** The days of a scan in runs: some with changes, or some without. */
function runsOf(scan: ArchiveScan, changedDays: ReadonlySet<UtcDay>): ScanDay[][] {
  const changedDaysMax = scan.deviceId === null ? 1 : CHANGED_DAYS_MAX;
  const runs: ScanDay[][] = [];
  for (const day of scanDays(scan)) {
    const last = runs.at(-1);
    const isChanged = changedDays.has(day.day);
    const isSame = last !== undefined && changedDays.has(last[0]!.day) === isChanged;
    if (isSame && !(isChanged && last.length === changedDaysMax)) last.push(day);
    else runs.push([day]);
  }
  return runs;
}

function groupOf(
  scan: ArchiveScan,
  days: readonly ScanDay[],
  rows: FewLateRows,
  isChanged: boolean,
): DayGroup {
  const { late, hidden = null } = scan;
  const range = rangeOfDays(scan.range, days);
  const parts = days.flatMap((day) => day.parts);
  const lateDays = days.filter(({ hasLate }) => hasLate).map(({ day }) => day);
  const ofDays = { ...scan, range, parts, hidden: null, late: null };
  const ofGroup = lateDays.length === 0 ? FewLateRows.NONE : rows.within(range);
  const plain = ofGroup.count === 0 ? ofDays : showingFixes(ofDays);
  return {
    scan: plain,
    changed: isChanged
      ? { ...ofDays, hidden, late: lateDays.length === 0 ? null : { ...late!, days: lateDays } }
      : null,
    days: scanDays(plain),
    late: ofGroup,
    shown: null,
    count: null,
  };
}

/** The hidden instants of a scan's device within its range. */
function hiddenTimesOf({ hidden, range }: ArchiveScan, deviceId: DeviceId): Float64Array {
  const times = hidden?.timesOf?.(deviceId) ?? NONE;
  return times.subarray(countBefore(times, range.startMs), countBefore(times, range.endMs));
}

interface RowRange extends TimeRange {
  /** How many records it has at most, with those that are hidden. */
  readonly rows: number;
}

/** The ranges of time with these shown records, without long runs of hidden ones in between. */
function rangesOf(page: Float64Array, hidden: Float64Array): RowRange[] {
  const ranges: RowRange[] = [];
  const hiddenBefore = (timeMs: number) => countBefore(hidden, timeMs);
  for (let from = 0; from < page.length; ) {
    let to = from + 1;
    while (to < page.length && hiddenBefore(page[to]!) - hiddenBefore(page[to - 1]!) <= ROWS_IN_VAIN_MAX)
      to++;
    const [startMs, lastMs] = [page[from]!, page[to - 1]!];
    const rows = to - from + hiddenBefore(lastMs) - hiddenBefore(startMs);
    ranges.push({ startMs, endMs: lastMs + 1, rows });
    from = to;
  }
  return ranges;
}

/** The rows that are not hidden: those of one device, or of the devices that a column names. */
export function withoutHidden(
  rows: Rows,
  { timesOf }: DroppedKeys,
  deviceId: DeviceId | null,
  timeColumn: number,
  deviceColumn: number,
): Rows {
  const times = rows.numbers(timeColumn);
  const deviceIds = deviceId === null ? rows.texts(deviceColumn) : null;
  const visible: number[] = [];
  let last = deviceId;
  let hidden = deviceId === null ? null : timesOf(deviceId);
  for (let row = 0; row < times.length; row++) {
    if (deviceIds !== null && deviceIds[row] !== last) {
      last = deviceIds[row] as DeviceId;
      hidden = timesOf(last);
    }
    if (hidden === null || !hasNumber(hidden, times[row]!)) visible.push(row);
  }
  return visible.length === times.length ? rows : someRows(rows, visible);
}

function firstRows(rows: Rows, count: number): Rows {
  return rows.count <= count ? rows : someRows(rows, [...Array(count).keys()]);
}

/** The rows of some pieces without the first. */
function withoutFirst(pieces: readonly Rows[], count: number): Rows[] {
  let skip = count;
  return pieces.map((rows) => {
    const from = Math.min(skip, rows.count);
    skip -= from;
    return from === 0 ? rows : someRows(rows, [...Array(rows.count).keys()].slice(from));
  });
}

function someRows(rows: Rows, visible: readonly number[]): Rows {
  const visibleOf = <Value>(values: readonly Value[]) => visible.map((row) => values[row]!);
  return {
    count: visible.length,
    numbers(column) {
      const values = rows.numbers(column);
      return Float64Array.from(visible, (row) => values[row]!);
    },
    texts: (column) => visibleOf(rows.texts(column)),
    tuples: (columns) => visibleOf(rows.tuples(columns)),
    booleans: (column) => visibleOf(rows.booleans(column)),
  };
}
