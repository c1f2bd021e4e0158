import { createLocalTimeFormatter, type LocalTimeFormatter } from "../../model/time/local-time.ts";
import type { Zone } from "../../model/time/zone.ts";

/** What writes `local_time` in a zone; null where no zone was asked for. */
export function localTimeFormatterOf(zone: Zone | null): LocalTimeFormatter | null {
  if (zone === null) return null;
  let formatter = formatters.get(zone);
  if (formatter === undefined) {
    formatter = createLocalTimeFormatter(zone);
    formatters.set(zone, formatter);
  }
  return formatter;
}

/** They remember the day and the offset they wrote last, which mostly serves the next answer too. */
const formatters = new WeakMap<Zone, LocalTimeFormatter>();
