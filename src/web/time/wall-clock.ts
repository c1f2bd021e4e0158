/** What the clocks of a zone show, as `Intl` knows it. */

const formats = new Map<string, Intl.DateTimeFormat>();

/** What clocks in the zone show at an instant, as if that were UTC: in ms, whole seconds. */
export function wallMs(ms: number, zone: string): number {
  const seconds = Math.floor(ms / 1000) * 1000;
  const part: Partial<Record<Intl.DateTimeFormatPartTypes, number>> = {};
  for (const { type, value } of formatOf(zone).formatToParts(seconds)) part[type] = Number(value);
  const shown = new Date(0);
  shown.setUTCFullYear(part.year!, part.month! - 1, part.day!);
  return shown.setUTCHours(part.hour!, part.minute!, part.second!);
}

/** To make one takes fifty times as long as to use it. */
function formatOf(zone: string): Intl.DateTimeFormat {
  let format = formats.get(zone);
  if (format === undefined) {
    format = new Intl.DateTimeFormat("en-US", {
      timeZone: zone,
      calendar: "gregory",
      numberingSystem: "latn",
      hourCycle: "h23",
      year: "numeric",
      month: "numeric",
      day: "numeric",
      hour: "numeric",
      minute: "numeric",
      second: "numeric",
    });
    formats.set(zone, format);
  }
  return format;
}
