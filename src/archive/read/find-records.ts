import type { Order, TimeRange } from "../../model/time/range.ts";
import { MS_PER_DAY } from "../../model/time/units.ts";
import type { Rows } from "../duckdb/database.ts";
import { type ArchiveScan, hasAliases, rangeOfDays, type ScanDay, scanDays } from "./archive-scan.ts";
import type { ScanRunner, Stretch } from "./scan-runner.ts";
import { countBySpanStatement, recordsStatement, timesStatement } from "./scan-sql.ts";

// Finds the records of a page without reading what comes before and after them: some days at a time, and on busy days
// the times first, since times alone cost a tenth of whole records.

/** From this many records on, another statement that finds the time of the page saves more than it costs. */
const LOCATED_ROWS_MIN = 20_000;
/**
 * To skip more records than this, they are counted by spans of time, shorter with each step, instead of reading each
 * time.
 */
const TIMES_MAX = 2_500;
const SPANS_MS = [60_000, 200, 1];

const COUNT_BY_DAY = countBySpanStatement(MS_PER_DAY);

/** A stretch that contains the page, and how many of its records come before the page. */
interface PageStart {
  readonly stretch: Stretch;
  readonly offset: number;
}

/** The records of a page, in the rows of one statement after another. */
export async function* findRecords(
  runner: ScanRunner,
  scan: ArchiveScan,
  order: Order,
  offset: number,
  limit: number,
): AsyncIterable<Rows> {
  const inTime = scanDays(scan);
  const inOrder = order === "asc" ? inTime : inTime.reverse();
  let { days, skip } = await skipDays(runner, scan, inOrder, offset);
  let room = limit;
  // How many records of a device or user a day has shows only after reading it, so each statement reads more days.
  for (let unknownMax = 1; days.length > 0 && room > 0; ) {
    const next = days.slice(0, countDaysHolding(days, skip + room, unknownMax));
    const start = { stretch: stretchOf(scan, next), offset: skip };
    const rows = await readRecords(runner, start, order, room);
    yield rows;
    room -= rows.count;
    skip = 0;
    days = days.slice(next.length);
    unknownMax = nextDays(next.length, rows.count, room);
  }
}

/**
 * How many days to read next, after `days` days had `records` records and `wanted` more are needed: in proportion, but
 * at least twice as many.
 */
function nextDays(days: number, records: number, wanted: number): number {
  return Math.max(2 * days, records === 0 ? 0 : Math.ceil((wanted * days) / records));
}

/** Drops the first days whose records all come before the offset. */
async function skipDays(
  runner: ScanRunner,
  scan: ArchiveScan,
  days: readonly ScanDay[],
  offset: number,
): Promise<{ days: readonly ScanDay[]; skip: number }> {
  let rest = days;
  let skip = offset;
  let countMax = 1;
  for (;;) {
    const [first] = rest;
    if (first === undefined || skip === 0) return { days: rest, skip };
    if (first.matching === null) {
      if (rest.length === 1) return { days: rest, skip }; // If the page has records, they are of this day.
      const countedDays = await countDays(runner, scan, firstUnknown(rest, countMax));
      rest = [...countedDays, ...rest.slice(countedDays.length)];
      const records = countedDays.reduce((sum, { matching }) => sum + matching, 0);
      countMax = nextDays(countedDays.length, records, skip - records);
    } else if (first.matching > skip) {
      return { days: rest, skip };
    } else {
      skip -= first.matching;
      rest = rest.slice(1);
    }
  }
}

function firstUnknown(days: readonly ScanDay[], max: number): readonly ScanDay[] {
  const known = days.findIndex(({ matching }) => matching !== null);
  return days.slice(0, known === -1 ? max : Math.min(max, known));
}

interface CountedDay extends ScanDay {
  readonly matching: number;
}

async function countDays(
  runner: ScanRunner,
  scan: ArchiveScan,
  days: readonly ScanDay[],
): Promise<CountedDay[]> {
  const rows = await runner.run(stretchOf(scan, days), COUNT_BY_DAY);
  const [spans, counts] = [rows.numbers(0), rows.numbers(1)];
  return days.map((day) => ({ ...day, matching: counts[spans.indexOf(day.day)] ?? 0 }));
}

/** How many of the days to read in one statement: as few as are known to have the wanted records. */
function countDaysHolding(days: readonly ScanDay[], wanted: number, unknownMax: number): number {
  let records = 0;
  let unknown = 0;
  let count = 0;
  for (const { matching } of days) {
    if (records >= wanted || unknown === unknownMax) break;
    if (matching === null) unknown++;
    else records += matching;
    count++;
  }
  return count;
}

async function readRecords(runner: ScanRunner, start: PageStart, order: Order, limit: number): Promise<Rows> {
  const { stretch, offset } = isWorthLocating(start.stretch)
    ? await locate(runner, start, order, limit)
    : start;
  return runner.run(stretch, recordsStatement(order), { limit: BigInt(limit), offset: BigInt(offset) });
}

function isWorthLocating({ scan, days }: Stretch): boolean {
  // Each statement would merge the late rows, or rename records, again.
  if (hasAliases(scan) || days.some(({ hasLate }) => hasLate)) return false;
  const isOfAll = scan.deviceId === null && scan.userId === null;
  const records = days.reduce((sum, { matching, appRows }) => sum + (matching ?? (isOfAll ? appRows : 0)), 0);
  return records >= LOCATED_ROWS_MIN;
}

/**
 * Narrows the stretch to the time of the page. Records of its first millisecond that come before the page are what
 * remains of the offset.
 */
async function locate(runner: ScanRunner, start: PageStart, order: Order, limit: number): Promise<PageStart> {
  let near = start;
  for (const spanMs of SPANS_MS) {
    if (near.offset + limit <= TIMES_MAX) break;
    near = await locateSpans(runner, near, order, limit, spanMs);
  }
  const { stretch, offset } = near;
  if (offset + limit > TIMES_MAX) return near; // The records share a millisecond.
  const rows = await runner.run(stretch, timesStatement(order), { limit: BigInt(offset + limit) });
  const times = rows.numbers(0);
  if (times.length <= offset) return near; // The page is empty wherever it is read.
  const [first, last] = [times[offset]!, times.at(-1)!];
  const range = { startMs: Math.min(first, last), endMs: Math.max(first, last) + 1 };
  return { stretch: narrowed(stretch, range), offset: offset - times.indexOf(first) };
}

/** Narrows the stretch to the spans that contain the page. */
async function locateSpans(
  runner: ScanRunner,
  { stretch, offset }: PageStart,
  order: Order,
  limit: number,
  spanMs: number,
): Promise<PageStart> {
  const rows = await runner.run(stretch, countBySpanStatement(spanMs));
  const [spans, counts] = [rows.numbers(0), rows.numbers(1)];
  if (order === "desc") {
    spans.reverse();
    counts.reverse();
  }
  let skip = offset;
  let at = 0;
  while (at < spans.length && counts[at]! <= skip) skip -= counts[at++]!;
  if (at === spans.length) return { stretch, offset };
  const first = spans[at]!;
  for (let room = skip + limit - counts[at]!; room > 0 && at + 1 < spans.length; ) room -= counts[++at]!;
  const last = spans[at]!;
  const range = {
    startMs: Math.min(first, last) * spanMs,
    endMs: (Math.max(first, last) + 1) * spanMs,
  };
  return { stretch: narrowed(stretch, range), offset: skip };
}

export function stretchOf(scan: ArchiveScan, days: readonly ScanDay[]): Stretch {
  return { scan, days, range: rangeOfDays(scan.range, days) };
}

/** The part of a stretch within a range of time. */
export function narrowed({ scan, days, range }: Stretch, within: TimeRange): Stretch {
  const both = {
    startMs: Math.max(range.startMs, within.startMs),
    endMs: Math.min(range.endMs, within.endMs),
  };
  const isWithin = ({ day }: ScanDay) =>
    day * MS_PER_DAY < both.endMs && (day + 1) * MS_PER_DAY > both.startMs;
  return { scan, days: days.filter(isWithin), range: both };
}
