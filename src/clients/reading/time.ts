import { readNumber } from "./values.ts";

/** Numbers below are Unix seconds (until the year 5138), numbers below the other are milliseconds. */
const SECONDS_BELOW = 1e11;
const MILLISECONDS_BELOW = 1e14;

/** ISO 8601 with `Z`, `±hh:mm` or `±hhmm`; a blank may stand for the T, and text without a zone is UTC. */
const ISO = /^(\d{4}-\d{2}-\d{2})[T ](\d{2}:\d{2}(?::\d{2}(?:\.\d{1,9})?)?) ?(Z|[+-]\d{2}:?\d{2})?$/i;

/** Unix ms, whole; null where it can't be read. A time before 1970 is none that a phone means. */
export function readTimeMs(value: unknown): number | null {
  const number = readNumber(value);
  if (number !== null) return fromNumber(number);
  if (typeof value !== "string") return null;
  const iso = ISO.exec(value.trim());
  if (iso === null) return null;
  const [, date, clock, zone = "Z"] = iso;
  const timeMs = Date.parse(`${date}T${clock}${withColon(zone)}`);
  return Number.isFinite(timeMs) && timeMs > 0 ? timeMs : null;
}

function fromNumber(number: number): number | null {
  if (number <= 0 || number >= MILLISECONDS_BELOW) return null;
  return Math.trunc(number < SECONDS_BELOW ? number * 1000 : number);
}

function withColon(zone: string): string {
  if (zone.length !== "+hhmm".length) return zone.toUpperCase();
  return `${zone.slice(0, 3)}:${zone.slice(3)}`;
}
