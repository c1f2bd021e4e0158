import { assert } from "../../lib/assert.ts";
import { COLON, DOT } from "../../lib/text/ascii.ts";
import { MS_PER_DAY } from "./units.ts";
import { UTC, type Zone } from "./zone.ts";

/**
 * Writes instants as ISO 8601 local time, 29 ASCII bytes for the years 0000 to 9999:
 *
 *     2026-03-29T03:00:00.000+02:00
 *     0          11           23
 *
 * The text always denotes exactly its instant. ISO 8601 can't show offsets with seconds (Liberia until 1972, local mean
 * time before), so then the offset is rounded to the minute and the local time follows it.
 */
export interface LocalTimeFormatter {
  /** Writes into `out` at `position` and returns the position after it. */
  write(timestampMs: number, out: Uint8Array, position: number): number;
  text(timestampMs: number): string;
}

export const LOCAL_TIME_BYTES = 29;

const TIME_AT = 11;
const OFFSET_AT = 23;
const YEAR_0000_MS = Date.UTC(0, 0, 1) - 693_961 * MS_PER_DAY; // `Date.UTC(0, …)` is 1900.
const YEAR_10000_MS = Date.UTC(10_000, 0, 1);

const DIGIT_0 = 48;

export function createLocalTimeFormatter(zone: Zone): LocalTimeFormatter {
  // The last text. Its date is valid all day, and its offset until clocks change; neighbours usually share both.
  const last = new TextEncoder().encode("0000-00-00T00:00:00.000+00:00");
  let offsetStartMs = 0;
  let offsetEndMs = 0;
  let offsetMs = 0;
  let localDayMs = -Infinity;

  function enterOffset(timestampMs: number): void {
    const span = zone.offsetSpanAt(timestampMs);
    const minutes = Math.round(span.offsetMinutes);
    offsetStartMs = span.startMs;
    offsetEndMs = span.endMs;
    offsetMs = minutes * 60_000;
    last[OFFSET_AT] = minutes < 0 ? 45 : 43; // - or +
    const distance = Math.abs(minutes);
    writeTwoDigits(last, OFFSET_AT + 1, Math.trunc(distance / 60));
    writeTwoDigits(last, OFFSET_AT + 4, distance % 60);
  }

  function enterDay(localMs: number): void {
    assert(localMs >= YEAR_0000_MS && localMs < YEAR_10000_MS, "a local time's year has four digits");
    localDayMs = Math.floor(localMs / MS_PER_DAY) * MS_PER_DAY;
    const date = new Date(localDayMs);
    const year = date.getUTCFullYear();
    writeTwoDigits(last, 0, Math.trunc(year / 100));
    writeTwoDigits(last, 2, year % 100);
    writeTwoDigits(last, 5, date.getUTCMonth() + 1);
    writeTwoDigits(last, 8, date.getUTCDate());
  }

  function write(timestampMs: number, out: Uint8Array, position: number): number {
    if (!(timestampMs >= offsetStartMs && timestampMs < offsetEndMs)) enterOffset(timestampMs);
    const localMs = timestampMs + offsetMs;
    let restMs = localMs - localDayMs;
    if (!(restMs >= 0 && restMs < MS_PER_DAY)) {
      enterDay(localMs);
      restMs = localMs - localDayMs;
    }
    for (let i = 0; i < TIME_AT; i++) out[position + i] = last[i]!;
    writeTimeOfDay(out, position + TIME_AT, restMs);
    for (let i = OFFSET_AT; i < LOCAL_TIME_BYTES; i++) out[position + i] = last[i]!;
    return position + LOCAL_TIME_BYTES;
  }

  return {
    write,
    text(timestampMs) {
      const bytes = new Uint8Array(LOCAL_TIME_BYTES);
      write(timestampMs, bytes, 0);
      return new TextDecoder().decode(bytes);
    },
  };
}

/** `hh:mm:ss.sss` of the milliseconds since local midnight. */
function writeTimeOfDay(out: Uint8Array, at: number, restMs: number): void {
  const wholeMs = restMs | 0; // Below 2^31, and whole numbers divide faster.
  const seconds = (wholeMs / 1000) | 0;
  const minutes = (seconds / 60) | 0;
  const hours = (minutes / 60) | 0;
  const ms = wholeMs - seconds * 1000;
  const hundreds = (ms / 100) | 0;
  writeTwoDigits(out, at, hours);
  out[at + 2] = COLON;
  writeTwoDigits(out, at + 3, minutes - hours * 60);
  out[at + 5] = COLON;
  writeTwoDigits(out, at + 6, seconds - minutes * 60);
  out[at + 8] = DOT;
  out[at + 9] = DIGIT_0 + hundreds;
  writeTwoDigits(out, at + 10, ms - hundreds * 100);
}

function writeTwoDigits(out: Uint8Array, at: number, value: number): void {
  const tens = (value / 10) | 0;
  out[at] = DIGIT_0 + tens;
  out[at + 1] = DIGIT_0 + (value - tens * 10);
}

/** Writes `local_time` in a zone; null if the request names no zone. */
export function localTimeFormatterOf(zone: Zone | null): LocalTimeFormatter | null {
  if (zone === null) return null;
  let formatter = formatters.get(zone);
  if (formatter === undefined) {
    formatter = createLocalTimeFormatter(zone);
    formatters.set(zone, formatter);
  }
  return formatter;
}

/** A formatter remembers its last day and offset, which mostly fit the next answer too. */
const formatters = new WeakMap<Zone, LocalTimeFormatter>();

/** Writes instants as ISO 8601 in UTC, `2026-03-29T03:00:00.000Z`. */
export interface UtcTimeWriter {
  /** Writes into `out` at `position` and returns the position after it. May overwrite five more bytes. */
  write(timestampMs: number, out: Uint8Array, position: number): number;
}

const UTC_TIME_BYTES = 24;
const Z = 0x5a;

export function createUtcTimeWriter(): UtcTimeWriter {
  const formatter = createLocalTimeFormatter(UTC);
  return {
    write(timestampMs, out, position) {
      formatter.write(timestampMs, out, position);
      out[position + UTC_TIME_BYTES - 1] = Z; // Replaces the offset.
      return position + UTC_TIME_BYTES;
    },
  };
}
