import { DateTime } from "luxon";
import type { PointSink } from "../file-point.ts";
import { HeaderError, type ReadOptions } from "../format.ts";
import { createFileTimes, createUnzonedReader, type FileTimes, unixMs } from "./file-times.ts";

/** Reads a table's times in the operator's format, else in the usual ones. */
export function createTableTimes(
  { zone, timeFormat }: Pick<ReadOptions, "zone" | "timeFormat">,
  sink: Pick<PointSink, "note">,
): FileTimes {
  if (timeFormat === null) return createFileTimes(zone, sink);
  const pattern = parseTimePattern(timeFormat);
  const instantOf = createUnzonedReader(zone, sink);
  return {
    readMs(value) {
      if (typeof value === "number") return unixMs(value);
      const text = typeof value === "string" ? value.trim() : "";
      if (text === "") return null;
      const ms = pattern.read(text);
      return Number.isNaN(ms) || pattern.hasZone ? ms : instantOf(ms, text);
    },
  };
}

interface TimePattern {
  /** Whether the texts include a zone. */
  readonly hasZone: boolean;
  /** Unix ms; without a zone, the clock time as if it were UTC. NaN if the text does not match. */
  read(text: string): number;
}

/** Names of months and days are English on every machine. */
const LOCALE = "en-US";

/** Throws a `HeaderError` if the format lacks the day or the time of day. */
function parseTimePattern(tokens: string): TimePattern {
  const parser = DateTime.buildFormatParser(tokens, { locale: LOCALE });
  const read = (text: string, zone: string) => {
    const time = DateTime.fromFormatParser(text, parser, { zone, locale: LOCALE });
    return time.isValid ? time.toMillis() : Number.NaN;
  };
  const sample = DateTime.utc(2001, 2, 3, 16, 5);
  const sampleText = sample.toFormat(tokens, { locale: LOCALE });
  if (!isReadAs(sample.toMillis(), () => read(sampleText, "UTC")))
    throw new HeaderError(`the time format "${tokens}" has no date or no time of day`);
  return {
    hasZone: read(sampleText, "UTC+5") === sample.toMillis(),
    read: (text) => read(text, "UTC"),
  };
}

/** Contradictory tokens throw. */
function isReadAs(ms: number, read: () => number): boolean {
  try {
    return read() === ms;
  } catch {
    return false;
  }
}
