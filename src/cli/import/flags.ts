import { UNPACKED_BYTES_MAX } from "../../import/sources/unpack-budget.ts";
import type { FlagRows } from "../arguments/flag-row.ts";
import { APP, DEVICE, FILE, KEY, SERVER_URL, USER } from "../arguments/value-kinds.ts";
import {
  BYTES,
  COLUMN,
  DATE_FROM,
  DATE_TO,
  FORMAT,
  PASS_PHRASE,
  SHIFT,
  SPEED_UNIT,
  TIME_FORMAT,
  ZONE,
} from "./value-kinds.ts";

/** What may be said of files that are imported. */
export const IMPORT_FLAGS = {
  appId: {
    name: "app",
    takes: APP,
    does: "the app that the devices belong to; with --url it must be the key's",
  },
  deviceId: {
    name: "device",
    takes: DEVICE,
    otherwise: "as the files call them, else their names",
    does: "the one device that all is of",
  },
  userId: {
    name: "user",
    takes: USER,
    otherwise: "as the files say, else none",
    does: "the user of all; of CSV and NDJSON of ours, of reports that name none",
  },
  format: {
    name: "format",
    takes: FORMAT,
    otherwise: "found out from what they hold",
    does: "what the files hold, one of the formats above",
  },
  zone: {
    name: "timezone",
    takes: ZONE,
    otherwise: "none, and files that need it are not read",
    does: "of times that are written without one, such as Europe/Berlin",
  },
  shiftMs: { name: "shift", takes: SHIFT, otherwise: "none", does: "moves all times, such as +2h or -90m" },
  shiftToNow: {
    name: "shift-to-now",
    does: "moves each file by whole days, so that its newest report lies within the last 24 h",
  },
  speedUnit: {
    name: "speed-unit",
    takes: SPEED_UNIT,
    otherwise: "auto, as each format has it",
    does: "what speeds are in",
  },
  fromMs: {
    name: "from",
    takes: DATE_FROM,
    otherwise: "all",
    does: "leaves out what is before this UTC day or instant, such as 2025-01-01 or 2025-01-01T12:00:00Z",
  },
  toMs: {
    name: "to",
    takes: DATE_TO,
    otherwise: "all",
    does: "leaves out what is after this day or instant",
  },
  skipOld: { name: "skip-old", does: "leaves out what is older than the retention, rather than to stop" },
  waypoints: { name: "waypoints", does: "takes waypoints for positions, too" },
  semantic: {
    name: "semantic",
    does: "takes Google's Semantic Location History also where the positions that it sums up are imported",
  },
  columns: {
    name: "map",
    takes: COLUMN,
    repeats: true,
    otherwise: "by their names",
    does: "says which column of a table is which field, such as latitude=Breite",
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
    does: "opens messages that OwnTracks encrypted; other users can't see the variable",
  },
  unpackedBytesMax: {
    name: "max-bytes",
    takes: BYTES,
    default: UNPACKED_BYTES_MAX,
    does: "what packed files may unpack to, all together",
  },
  dryRun: { name: "dry-run", does: "reads everything, says what is there, and writes nothing" },
  report: {
    name: "report",
    takes: FILE,
    otherwise: "none",
    does: "a line of JSON for each thing that is skipped",
  },
  json: { name: "json", does: "the result as JSON" },
  url: { name: "url", takes: SERVER_URL, does: "a running server" },
  key: {
    name: "key",
    takes: KEY,
    goesWith: "url",
    variable: "WHEREHOUSE_KEY",
    does: "a key of it that may write; other users can't see the variable",
  },
} as const satisfies FlagRows;
