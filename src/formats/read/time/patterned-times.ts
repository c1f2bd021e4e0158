import { DateTime } from "luxon";
import type { PointSink } from "../file-point.ts";
import { HeaderError, type ReadOptions } from "../format.ts";
import { createFileTimes, createUnzonedReader, type FileTimes, unixMs } from "./file-times.ts";

/** Reads a table's times as the operator said that they are written, else as every file's. */
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

/** How times are written, in Luxon's tokens. */
interface TimePattern {
  /** Whether a text says its zone. */
  readonly hasZone: boolean;
  /** Unix ms; without zone what clocks show, as if it were UTC. NaN where the text is not written so. */
  read(text: string): number;
}

/** Names of months and days are English, whatever the machine speaks. */
const LOCALE = "en-US";

/** Throws a `HeaderError` where a text that is written so doesn't tell the day and the time of day. */
function parseTimePattern(tokens: string): TimePattern {
  const parser = DateTime.buildFormatParser(tokens, { locale: LOCALE });
  const read = (text: string, zone: string) => {
    const time = DateTime.fromFormatParser(text, parser, { zone, locale: LOCALE });
    return time.isValid ? time.toMillis() : Number.NaN;
  };
  const sample = DateTime.utc(2001, 2, 3, 16, 5);
  const sampleText = sample.toFormat(tokens, { locale: LOCALE });
  if (!isReadAs(sample.toMillis(), () => read(sampleText, "UTC")))
    throw new HeaderError(`the time format "${tokens}" doesn't tell a day and a time of it`);
  return {
    hasZone: read(sampleText, "UTC+5") === sample.toMillis(),
    read: (text) => read(text, "UTC"),
  };
}

/** Tokens that contradict each other throw. */
function isReadAs(ms: number, read: () => number): boolean {
  try {
    return read() === ms;
  } catch {
    return false;
  }
}
