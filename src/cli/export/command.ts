import { DEFAULT_GAP_MS, type WriteOptions } from "../../formats/write/record-writer.ts";
import type { Compression } from "../../lib/bytes/unzstd.ts";
import { fail, ok, type Result } from "../../lib/result.ts";
import { formatDuration, parseDuration } from "../../lib/text/duration.ts";
import type { AppId, DeviceId, UserId } from "../../model/ids.ts";
import { type LocalDate, parseDate } from "../../model/time/range.ts";
import { parseZone } from "../../model/time/zone.ts";
import { EXPORT_FORMATS, type ExportFormat } from "../../service/export/export-formats.ts";
import { defineCommand, type Given } from "../arguments/command.ts";
import type { FlagRows, FlagValues } from "../arguments/flag-row.ts";
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

const METERS_MAX = 100_000;

/** They are too many for a line of help, which names them elsewhere. */
const FORMAT: ValueKind<ExportFormat> = ruled(
  "FORMAT",
  `be one of ${EXPORT_FORMATS.map(({ name }) => name).join(", ")}`,
  (text) => EXPORT_FORMATS.find(({ name }) => name === text) ?? null,
);

const DATE = ruled("DATE", "be a date that exists, such as 2025-12-31", parseDate);

const ZONE = ruled("ZONE", "be a time zone such as Europe/Berlin or +02:00", parseZone);

const PACKING = oneOf("HOW", ["gzip", "zstd"] as const);

const SPLIT = oneOf("BY", ["day", "month", "device"] as const);

/** A silence in milliseconds. */
const GAP: ValueKind<number> = {
  ...ruled("TIME", "be a time such as 30m, 2h or 1d", parseDuration),
  format: formatDuration,
};

/** A distance in meters. */
const TOLERANCE = ruled("DISTANCE", "be a distance such as 10m or 0.5km, at most 100km", (text) => {
  const [, count, unit] = /^(\d{1,6}(?:\.\d{1,3})?)(m|km)$/.exec(text) ?? [];
  const meters = Number(count) * (unit === "km" ? 1000 : 1);
  return meters > 0 && meters <= METERS_MAX ? meters : null;
});

const EXPORT_FLAGS = {
  appId: { name: "app", takes: APP, does: "the app whose records; with --url it must be the key's" },
  format: { name: "format", takes: FORMAT, required: true, does: "what is written, one of those below" },
  deviceIds: {
    name: "device",
    takes: DEVICE,
    repeats: true,
    otherwise: "all",
    does: "only records of this device",
  },
  userId: { name: "user", takes: USER, otherwise: "all", does: "only records of this user" },
  from: { name: "from", takes: DATE, otherwise: "all", does: "the first day, such as 2025-01-01" },
  to: { name: "to", takes: DATE, otherwise: "today", does: "the last day, included" },
  zone: {
    name: "timezone",
    takes: ZONE,
    otherwise: "UTC, and no local times",
    does: "the zone that days are of; adds local_time where a format has fields by name",
  },
  out: { name: "out", takes: FILE, default: "-", does: "where to write to; - is standard output" },
  force: { name: "force", does: "writes over files that are there" },
  packing: { name: "compress", takes: PACKING, otherwise: "not at all", does: "packs what is written" },
  split: {
    name: "split",
    takes: SPLIT,
    otherwise: "one file",
    does: "a file for each in the directory --out, which is made where it is missing",
  },
  simplifyMeters: {
    name: "simplify",
    takes: TOLERANCE,
    otherwise: "all records",
    does: "leaves out positions that lie so near to the track without them",
  },
  redact: { name: "redact", does: "numbers the devices in place of their names, and leaves out users" },
  recordSeparator: { name: "rs", does: "for geojsonseq: begins each line with RFC 8142's separator" },
  gapMs: {
    name: "gap",
    takes: GAP,
    default: DEFAULT_GAP_MS,
    does: "a silence after which tracks of gpx, kml and kmz begin anew",
  },
  url: { name: "url", takes: SERVER_URL, does: "a running server" },
  key: {
    name: "key",
    takes: KEY,
    goesWith: "url",
    variable: "WHEREHOUSE_KEY",
    does: "a key of it that may read; other users can't see the variable",
  },
} as const satisfies FlagRows;

export const EXPORT = defineCommand({
  name: "export",
  takes: "",
  summary: "write records to files that other programs read",
  flags: EXPORT_FLAGS,
  help: {
    ways: ["--app APP --format FORMAT", "--url URL --key KEY --format FORMAT"],
    before: `\
Writes the records of an app to a file or standard output, from memory and archive alike: straight from the
data directory or, while a server runs on it, through the server. The formats are
${EXPORT_FORMATS.map(({ name }) => name).join(", ")}.
ndjson, csv and parquet have every field and come back by import as they were; the others have what their
readers know. docs/exporting.md says more of each.

A file is written beside its place and gets its name at the end, so a file that is there is whole. The number
of records is printed; with standard output it is the last line of standard error.`,
    after: `--split makes one file for each day, month or device, named by it, and none where there are no records.
Ctrl-C leaves nothing of the file that was being written. Exit code 1 says that a file could not be written
to its end, or that one was there and --force was not given.`,
    example: (program) => `${program} export --app default --format gpx --from 2025-01-01 --out 2025.gpx
  ${program} export --app default --format ndjson --compress zstd --out everything.ndjson.zst`,
  },
  parse: parseExport,
});

/** What is exported, from where and to where. */
export interface ExportOptions {
  readonly dataDir: string;
  readonly source: ExportSource;
  readonly format: ExportFormat;
  readonly options: WriteOptions;
  /** None for all. */
  readonly deviceIds: readonly DeviceId[];
  readonly userId: UserId | null;
  /** Null for all that is there. */
  readonly from: LocalDate | null;
  /** Null for today. */
  readonly to: LocalDate | null;
  /** A path, or `-` for standard output; a directory where the export is split. */
  readonly out: string;
  readonly force: boolean;
  readonly packing: Compression | null;
  readonly split: Split | null;
}

export type Split = "day" | "month" | "device";

export type ExportSource =
  | { readonly kind: "directory"; readonly appId: AppId }
  | {
      readonly kind: "server";
      readonly url: string;
      readonly key: string;
      /** The app that the key must belong to; null accepts any. */
      readonly appId: AppId | null;
    };

type Values = FlagValues<typeof EXPORT_FLAGS>;

/** Formats that are packed by themselves. */
const PACKED_FORMATS = ["parquet", "kmz"];

function parseExport({ values, dataDir }: Given<typeof EXPORT_FLAGS>): Result<ExportOptions, string> {
  const { format, deviceIds, userId, from, to, out, force, packing, split } = values;
  const { zone, redact, recordSeparator, gapMs, simplifyMeters } = values;
  const fault = faultOf(values);
  if (fault !== null) return fail(fault);
  const source = parseSource(values);
  if (!source.ok) return source;
  const options = { zone, redact, recordSeparator, gapMs, simplifyMeters };
  const which = { deviceIds, userId, from, to };
  return ok({
    dataDir,
    source: source.value,
    format,
    options,
    ...which,
    out,
    force,
    packing,
    split,
  });
}

/** What doesn't go together; null where all does. */
function faultOf({ format, from, to, out, packing, split, simplifyMeters, redact, recordSeparator }: Values) {
  if (from !== null && to !== null && from > to) return "--from must not be after --to";
  if (split !== null && out === "-") return "--split needs --out, the directory to write the files to";
  if ((split === "day" || split === "month") && from === null) return `--split ${split} needs --from`;
  if (split !== null && redact)
    return "--redact numbers the devices of one file, so it does not go with --split";
  if (packing !== null && PACKED_FORMATS.includes(format.name))
    return `${format.name} is packed by itself: leave out --compress`;
  if (simplifyMeters !== null && !format.marksSimplified)
    return `${format.name} has no place to say that tracks were simplified: leave out --simplify`;
  if (recordSeparator && format.name !== "geojsonseq") return "--rs is for geojsonseq";
  return null;
}

function parseSource({ appId, url, key }: Values): Result<ExportSource, string> {
  if (url === null) {
    if (appId === null) return fail("export needs --app, or --url with --key");
    return ok({ kind: "directory", appId });
  }
  if (key === null) return fail("--url needs --key, or the key in WHEREHOUSE_KEY");
  return ok({ kind: "server", url, key, appId });
}
