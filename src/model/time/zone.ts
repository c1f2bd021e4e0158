import { findZoneHistory, type ZoneHistory } from "./zone-table.ts";

/** A time zone: the offset of local time from UTC, and how long it applies. */
export interface Zone {
  /** As requested, with `+` in place of a space. */
  readonly name: string;
  /** What to add to UTC for local time; whole minutes since 1972. */
  offsetMinutesAt(timestampMs: number): number;
  /** The period around an instant in which the offset stays the same. */
  offsetSpanAt(timestampMs: number): OffsetSpan;
}

/** From `startMs` to before `endMs`; either may be infinite. */
export interface OffsetSpan {
  readonly startMs: number;
  readonly endMs: number;
  readonly offsetMinutes: number;
}

/** Larger than every offset in history: local mean time of Manila and of Alaska came within 5 minutes of it. */
export const OFFSET_MINUTES_MAX = 16 * 60;

/** The largest offset that a request can write as `±hh:mm`, which is the largest that clocks have today. */
const WRITTEN_OFFSET_MINUTES_MAX = 14 * 60;

/** Abbreviations that mean a fixed offset all year. For EST and MST this overrides the database's zones. */
const FIXED_OFFSET_HOURS: ReadonlyMap<string, number> = new Map([
  ["PST", -8],
  ["MST", -7],
  ["CST", -6],
  ["EST", -5],
  ["UTC", 0],
  ["GMT", 0],
]);

/** Zones by name. Bounded by the possible names: some 600 in the database and 1,682 offsets. */
const zones = new Map<string, Zone>();

/** The zone of a `timezone` parameter; null if there is none of this name. Names are case-sensitive. */
export function parseZone(text: string): Zone | null {
  const name = text.replace(" ", "+"); // No name has a space or two `+`, so a space is a `+` that URL decoding replaced.
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

/** Minutes of `±hh:mm`; null if it isn't one or exceeds the maximum. */
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
    let high = untilMs.length - 1; // The last period ends at Infinity, so it is the result if no other matches.
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
