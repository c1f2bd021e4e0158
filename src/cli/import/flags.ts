import { SPEED_UNITS } from "../../clients/reading/speed.ts";
import { readTimeMs } from "../../clients/reading/time.ts";
import { FORMATS } from "../../formats/read/formats.ts";
import { OWN_FORMATS } from "../../formats/read/own-formats.ts";
import { UNPACKED_BYTES_MAX } from "../../import/sources/unpacked-file.ts";
import { parseDuration } from "../../lib/text/duration.ts";
import { REPORT_FIELDS } from "../../model/location-fields.ts";
import { MS_PER_DAY } from "../../model/time/units.ts";
import { parseZone } from "../../model/time/zone.ts";
import type { FlagRows } from "../arguments/flag-row.ts";
import {
  APP,
  DEVICE,
  FILE,
  KEY,
  oneOf,
  ruled,
  SERVER_URL,
  USER,
  type ValueKind,
} from "../arguments/value-kinds.ts";

export const FORMAT_NAMES: readonly string[] = [
  ...new Set<string>([...OWN_FORMATS, ...FORMATS.map(({ name }) => name)]),
];

/** Has no `choices`: the names are too many for a line of help. */
const FORMAT = ruled(
  "FORMAT",
  `be one of ${FORMAT_NAMES.join(", ")}`,
  (text) => FORMAT_NAMES.find((name) => name === text) ?? null,
);

const ZONE = ruled("ZONE", "be a time zone such as Europe/Berlin or +02:00", parseZone);

const SPEED_UNIT = oneOf("UNIT", ["auto", ...SPEED_UNITS] as const);

/** The sign is required, so that the direction is never a guess. */
const SHIFT = ruled("±TIME", "be a time with its sign such as +2h, -90m or +7d", (text) => {
  const durationMs = /^[+-]/.test(text) ? parseDuration(text.slice(1)) : null;
  if (durationMs === null) return null;
  return text.startsWith("-") ? -durationMs : durationMs;
});

const DATE_RULE = "be a day or an instant, such as 2025-01-01 or 2025-01-01T12:00:00Z";

/** Unix ms of the first instant that is included. */
const DATE_FROM = ruled("DATE", DATE_RULE, (text) => startOfDayMs(text) ?? instantMs(text));

/** Unix ms of the first instant that is excluded: a day counts whole, and an instant is included. */
const DATE_TO = ruled("DATE", DATE_RULE, (text) => {
  const [dayMs, atMs] = [startOfDayMs(text), instantMs(text)];
  if (dayMs !== null) return dayMs + MS_PER_DAY;
  return atMs === null ? null : atMs + 1;
});

const COLUMN: ValueKind<readonly [string, string]> = ruled(
  "FIELD=COLUMN",
  "be a field of a report and a column of the file, such as latitude=Breite",
  (text) => {
    const at = text.indexOf("=");
    const [field, column] = [text.slice(0, at), text.slice(at + 1)];
    const isField = REPORT_FIELDS.some(({ name }) => name === field);
    return at > 0 && isField && column !== "" ? [field, column] : null;
  },
);

const TIME_FORMAT = ruled("FORMAT", "say how times are written, such as dd.MM.yyyy HH:mm:ss", (text) =>
  text.trim() === "" ? null : text,
);

/** A passphrase is a secret, so the error does not repeat it. */
const PASS_PHRASE = ruled("TEXT", "not be empty", (text) => (text === "" ? null : text));

const GIB = 1024 ** 3;

const BYTES: ValueKind<number> = {
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

export const IMPORT_FLAGS = {
  appId: {
    name: "app",
    takes: APP,
    does: "the app that the devices belong to; with --url it must be the app of the key",
  },
  deviceId: {
    name: "device",
    takes: DEVICE,
    otherwise: "the names in the files, else the file names",
    does: "the device of all points",
  },
  userId: {
    name: "user",
    takes: USER,
    otherwise: "as in the files, else none",
    does: "the user of all points; in Wherehouse's CSV and NDJSON only of reports without a user",
  },
  format: {
    name: "format",
    takes: FORMAT,
    otherwise: "recognized by their content",
    does: "the format of the files, one of those above",
  },
  zone: {
    name: "timezone",
    takes: ZONE,
    otherwise: "none, and files that need one are not read",
    does: "the time zone of times that are written without one, such as Europe/Berlin",
  },
  shiftMs: { name: "shift", takes: SHIFT, otherwise: "none", does: "shift all times, such as +2h or -90m" },
  shiftToNow: {
    name: "shift-to-now",
    does: "shift each file by whole days, so that its newest report lies within the last 24 h",
  },
  speedUnit: {
    name: "speed-unit",
    takes: SPEED_UNIT,
    otherwise: "auto, as each format defines it",
    does: "the unit of speeds",
  },
  fromMs: {
    name: "from",
    takes: DATE_FROM,
    otherwise: "all",
    does: "skip points before this UTC day or instant, such as 2025-01-01 or 2025-01-01T12:00:00Z",
  },
  toMs: {
    name: "to",
    takes: DATE_TO,
    otherwise: "all",
    does: "skip points after this day or instant",
  },
  skipOld: { name: "skip-old", does: "skip points that are older than the retention, instead of stopping" },
  waypoints: { name: "waypoints", does: "import waypoints as positions, too" },
  semantic: {
    name: "semantic",
    does: "import Google's Semantic Location History even if the positions that it summarizes are imported",
  },
  columns: {
    name: "map",
    takes: COLUMN,
    repeats: true,
    otherwise: "by their names",
    does: "read a field from this column of a table, such as latitude=Breite",
  },
  timeFormat: {
    name: "time-format",
    takes: TIME_FORMAT,
    otherwise: "ISO 8601 or Unix time",
    does: "how tables write times, such as dd.MM.yyyy HH:mm:ss",
  },
  passPhrase: {
    name: "owntracks-key",
    takes: PASS_PHRASE,
    variable: "WHEREHOUSE_OWNTRACKS_KEY",
    does: "decrypt messages that OwnTracks encrypted; other users can't see the variable",
  },
  unpackedBytesMax: {
    name: "max-bytes",
    takes: BYTES,
    default: UNPACKED_BYTES_MAX,
    does: "the most bytes that all compressed files together may unpack to",
  },
  dryRun: { name: "dry-run", does: "read everything, print a summary, and write nothing" },
  report: {
    name: "report",
    takes: FILE,
    otherwise: "none",
    does: "write a line of JSON for each skipped point to this file",
  },
  json: { name: "json", does: "print the result as JSON" },
  url: { name: "url", takes: SERVER_URL, does: "a running server" },
  key: {
    name: "key",
    takes: KEY,
    goesWith: "url",
    variable: "WHEREHOUSE_KEY",
    does: "a key of that server that may write; other users can't see the variable",
  },
} as const satisfies FlagRows;
