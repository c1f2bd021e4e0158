const MS_PER_MINUTE = 60_000;
const MS_PER_QUARTER = 15 * MS_PER_MINUTE;
const MS_PER_HOUR = 60 * MS_PER_MINUTE;

/** Zones that are no name of the IANA database, or mean something else there. */
const FIXED: Readonly<Record<string, number>> = { PST: -8, MST: -7, CST: -6, EST: -5, UTC: 0, GMT: 0 };

const formats = new Map<string, Intl.DateTimeFormat>();
const offsets = new Map<string, number>();
const starts = new Map<string, number>();

/** Local clock time less UTC, as the runtime's own `Intl` knows it. */
function offsetMs(zone: string, timestampMs: number): number {
  const fixed = FIXED[zone];
  if (fixed !== undefined) return fixed * MS_PER_HOUR;
  const signed = /^([+-])(\d\d):(\d\d)$/.exec(zone);
  if (signed !== null)
    return Number(`${signed[1]}1`) * (Number(signed[2]) * 60 + Number(signed[3])) * MS_PER_MINUTE;
  // Clocks change on whole quarters of an hour.
  const quarter = Math.floor(timestampMs / MS_PER_QUARTER);
  const key = `${zone} ${quarter}`;
  const known = offsets.get(key);
  if (known !== undefined) return known;
  const offset = askIntl(zone, quarter * MS_PER_QUARTER);
  offsets.set(key, offset);
  return offset;
}

function askIntl(zone: string, timestampMs: number): number {
  let format = formats.get(zone);
  if (format === undefined) {
    format = new Intl.DateTimeFormat("en", { timeZone: zone, timeZoneName: "longOffset" });
    formats.set(zone, format);
  }
  const name = format.formatToParts(timestampMs).find(({ type }) => type === "timeZoneName")!.value;
  const [, sign, hours, minutes] = /^GMT(?:([+-])(\d\d):(\d\d))?$/.exec(name)!;
  return sign === undefined ? 0 : Number(`${sign}1`) * (Number(hours) * 60 + Number(minutes)) * MS_PER_MINUTE;
}

/** ISO 8601 with offset, to the millisecond. */
export function localTime(zone: string, timestampMs: number): string {
  const offset = offsetMs(zone, timestampMs);
  const shown = new Date(timestampMs + offset).toISOString().slice(0, -1);
  const distance = new Date(Math.abs(offset)).toISOString().slice(11, 16);
  return `${shown}${offset < 0 ? "-" : "+"}${distance}`;
}

/** `YYYY-MM-DD` on the zone's calendars. */
export function localDate(zone: string, timestampMs: number): string {
  return localTime(zone, timestampMs).slice(0, 10);
}

/** The first quarter of an hour that belongs to the day, or to a later one. */
export function startOfDayMs(zone: string, date: string): number {
  const key = `${zone} ${date}`;
  const known = starts.get(key);
  if (known !== undefined) return known;
  let instantMs = Date.parse(date) - 15 * MS_PER_HOUR;
  while (localDate(zone, instantMs) < date) instantMs += MS_PER_QUARTER;
  starts.set(key, instantMs);
  return instantMs;
}

export function dayAfter(date: string): string {
  return new Date(Date.parse(date) + 24 * MS_PER_HOUR).toISOString().slice(0, 10);
}
