import { findZoneHistory, type ZoneHistory } from "./zone-table.ts";

/** A time zone that exists: how far local time is from UTC, and for how long. */
export interface Zone {
  /** As it was asked for, with `+` where a space stood for it. */
  readonly name: string;
  /** What to add to UTC for local time; whole minutes since 1972. */
  offsetMinutesAt(timestampMs: number): number;
  /** The stretch of time around an instant in which the offset stays the same. */
  offsetSpanAt(timestampMs: number): OffsetSpan;
}

/** From `startMs` to before `endMs`; either may be infinite. */
export interface OffsetSpan {
  readonly startMs: number;
  readonly endMs: number;
  readonly offsetMinutes: number;
}

/** No zone was ever further from UTC: local mean time of Manila and of Alaska came closest, within 5 minutes. */
export const OFFSET_MINUTES_MAX = 16 * 60;

/** What callers can write as `±hh:mm` goes as far as clocks do today. */
const WRITTEN_OFFSET_MINUTES_MAX = 14 * 60;

/** Abbreviations that mean an offset all year round; for EST and MST that wins over the database's zones. */
const FIXED_OFFSET_HOURS: ReadonlyMap<string, number> = new Map([
  ["PST", -8],
  ["MST", -7],
  ["CST", -6],
  ["EST", -5],
  ["UTC", 0],
  ["GMT", 0],
]);

/** Zones by name, bounded by what can be named: some 600 names of the database and 1,682 offsets. */
const zones = new Map<string, Zone>();

/** The zone a `timezone` parameter names; null where it names none. Names are case-sensitive. */
export function parseZone(text: string): Zone | null {
  const name = text.replace(" ", "+"); // No name has a space or two `+`: a space was a `+` that a URL lost.
  const known = zones.get(name);
  if (known !== undefined) return known;
  const zone = createZone(name);
  if (zone !== null) zones.set(name, zone);
  return zone;
}

export const UTC: Zone = createFixedZone("UTC", 0);

function createZone(name: string): Zone | null {
  const fixedHours = FIXED_OFFSET_HOURS.get(name);
  if (fixedHours !== undefined) return createFixedZone(name, fixedHours * 60);
  const writtenMinutes = parseOffsetMinutes(name);
  if (writtenMinutes !== null) return createFixedZone(name, writtenMinutes);
  const history = findZoneHistory(name);
  return history === null ? null : createHistoricZone(name, history);
}

/** Minutes of `±hh:mm`; null where it isn't one, or is further than clocks go. */
function parseOffsetMinutes(text: string): number | null {
  const match = /^([+-])(\d\d):([0-5]\d)$/.exec(text);
  if (match === null) return null;
  const minutes = Number(match[2]) * 60 + Number(match[3]);
  if (minutes > WRITTEN_OFFSET_MINUTES_MAX) return null;
  return match[1] === "-" ? 0 - minutes : minutes; // From 0, so `-00:00` is 0 and not -0.
}

function createFixedZone(name: string, offsetMinutes: number): Zone {
  const always = { startMs: -Infinity, endMs: Infinity, offsetMinutes };
  return { name, offsetMinutesAt: () => offsetMinutes, offsetSpanAt: () => always };
}

function createHistoricZone(name: string, { untilMs, offsetMinutes }: ZoneHistory): Zone {
  /** The first period that ends after the instant. */
  function periodAt(timestampMs: number): number {
    let low = 0;
    let high = untilMs.length - 1; // Ends at Infinity, so it is the answer if nothing before is.
    while (low < high) {
      const middle = (low + high) >>> 1;
      if (timestampMs < untilMs[middle]!) high = middle;
      else low = middle + 1;
    }
    return low;
  }

  return {
    name,
    offsetMinutesAt: (timestampMs) => offsetMinutes[periodAt(timestampMs)]!,
    offsetSpanAt(timestampMs) {
      const period = periodAt(timestampMs);
      return {
        startMs: period === 0 ? -Infinity : untilMs[period - 1]!,
        endMs: untilMs[period]!,
        offsetMinutes: offsetMinutes[period]!,
      };
    },
  };
}
