import { SPEED_UNITS } from "../../clients/reading/speed.ts";
import { readTimeMs } from "../../clients/reading/time.ts";
import { FORMATS } from "../../formats/read/formats.ts";
import { OWN_FORMATS } from "../../formats/read/own-formats.ts";
import { parseDuration } from "../../lib/text/duration.ts";
import { REPORT_FIELDS } from "../../model/location-fields.ts";
import { MS_PER_DAY } from "../../model/time/units.ts";
import { parseZone } from "../../model/time/zone.ts";
import { oneOf, ruled, type ValueKind } from "../arguments/value-kinds.ts";

/** What the flags of `import` take. */

export const FORMAT_NAMES: readonly string[] = [
  ...new Set<string>([...OWN_FORMATS, ...FORMATS.map(({ name }) => name)]),
];

/** Too many for a line of help, which names them elsewhere. */
export const FORMAT = ruled(
  "FORMAT",
  `be one of ${FORMAT_NAMES.join(", ")}`,
  (text) => FORMAT_NAMES.find((name) => name === text) ?? null,
);

export const ZONE = ruled("ZONE", "be a time zone such as Europe/Berlin or +02:00", parseZone);

export const SPEED_UNIT = oneOf("UNIT", ["auto", ...SPEED_UNITS] as const);

/** With a sign, so that nobody has to guess which way. */
export const SHIFT = ruled("±TIME", "be a time with its sign such as +2h, -90m or +7d", (text) => {
  const durationMs = /^[+-]/.test(text) ? parseDuration(text.slice(1)) : null;
  if (durationMs === null) return null;
  return text.startsWith("-") ? -durationMs : durationMs;
});

const DATE_RULE = "be a day or an instant, such as 2025-01-01 or 2025-01-01T12:00:00Z";

/** Unix ms of the first instant that is meant. */
export const DATE_FROM = ruled("DATE", DATE_RULE, (text) => startOfDayMs(text) ?? instantMs(text));

/** Unix ms of the first instant that is no longer meant: a day is included, and an instant too. */
export const DATE_TO = ruled("DATE", DATE_RULE, (text) => {
  const [dayMs, atMs] = [startOfDayMs(text), instantMs(text)];
  if (dayMs !== null) return dayMs + MS_PER_DAY;
  return atMs === null ? null : atMs + 1;
});

export const COLUMN: ValueKind<readonly [string, string]> = ruled(
  "FIELD=COLUMN",
  "be a field of a report and a column of the file, such as latitude=Breite",
  (text) => {
    const at = text.indexOf("=");
    const [field, column] = [text.slice(0, at), text.slice(at + 1)];
    const isField = REPORT_FIELDS.some(({ name }) => name === field);
    return at > 0 && isField && column !== "" ? [field, column] : null;
  },
);

export const TIME_FORMAT = ruled(
  "FORMAT",
  "say how times are written, such as dd.MM.yyyy HH:mm:ss",
  (text) => (text.trim() === "" ? null : text),
);

/** A secret: what is wrong with it is said without it. */
export const PASS_PHRASE = ruled("TEXT", "not be empty", (text) => (text === "" ? null : text));

const GIB = 1024 ** 3;

export const BYTES: ValueKind<number> = {
  ...ruled("SIZE", "be a size such as 500MB or 64GiB", parseBytes),
  format: (bytes) => `${bytes / GIB}GiB`,
};

function startOfDayMs(text: string): number | null {
  return /^\d{4}-\d{2}-\d{2}$/.test(text) ? readTimeMs(`${text}T00:00:00Z`) : null;
}

function instantMs(text: string): number | null {
  return /^\d{4}-\d{2}-\d{2}T/.test(text) ? readTimeMs(text) : null;
}

const UNIT_BYTES: Readonly<Record<string, number>> = {
  MB: 1e6,
  GB: 1e9,
  TB: 1e12,
  MiB: 1024 ** 2,
  GiB: GIB,
  TiB: 1024 ** 4,
};

function parseBytes(text: string): number | null {
  const [, count, unit = ""] = /^([1-9]\d{0,5})([MGT]i?B)$/.exec(text) ?? [];
  return count === undefined ? null : Number(count) * UNIT_BYTES[unit]!;
}
