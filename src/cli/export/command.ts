import { DEFAULT_GAP_MS, type WriteOptions } from "../../formats/write/record-writer.ts";
import type { Compression } from "../../lib/bytes/unzstd.ts";
import { fail, ok, type Result } from "../../lib/result.ts";
import { formatDuration, parseDuration } from "../../lib/text/duration.ts";
import type { AppId, DeviceId, UserId } from "../../model/ids.ts";
import { type LocalDate, parseDate } from "../../model/time/range.ts";
import { parseZone } from "../../model/time/zone.ts";
import { EXPORT_FORMATS, type ExportFormat } from "../../service/export/export-formats.ts";
import { type CommandInput, defineCommand } from "../arguments/command.ts";
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

/** Has no `choices`: the names are too many for a line of help. */
const FORMAT: ValueKind<ExportFormat> = ruled(
  "FORMAT",
  `be one of ${EXPORT_FORMATS.map(({ name }) => name).join(", ")}`,
  (text) => EXPORT_FORMATS.find(({ name }) => name === text) ?? null,
);

const DATE = ruled("DATE", "be a date that exists, such as 2025-12-31", parseDate);

const ZONE = ruled("ZONE", "be a time zone such as Europe/Berlin or +02:00", parseZone);

const COMPRESSION = oneOf("HOW", ["gzip", "zstd"] as const);

const SPLIT = oneOf("BY", ["day", "month", "device"] as const);

/** In milliseconds. */
const GAP: ValueKind<number> = {
  ...ruled("TIME", "be a time such as 30m, 2h or 1d", parseDuration),
  format: formatDuration,
};

/** In meters. */
const TOLERANCE = ruled("DISTANCE", "be a distance such as 10m or 0.5km, at most 100km", (text) => {
  const [, count, unit] = /^(\d{1,6}(?:\.\d{1,3})?)(m|km)$/.exec(text) ?? [];
  const meters = Number(count) * (unit === "km" ? 1000 : 1);
  return meters > 0 && meters <= METERS_MAX ? meters : null;
});

const EXPORT_FLAGS = {
  appId: { name: "app", takes: APP, does: "the app to export; with --url it must be the app of the key" },
  format: {
    name: "format",
    takes: FORMAT,
    otherwise: "none: required without --complete",
    does: "the format to write, one of those above",
  },
  isComplete: {
    name: "complete",
    does: "write one ZIP with everything about a person: those of --device, or --user",
  },
  isPartial: {
    name: "partial",
    does: "with --complete: leave out what the key may not read, instead of failing",
  },
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
    does: "the time zone of the days; adds local_time in formats with named fields",
  },
  out: { name: "out", takes: FILE, default: "-", does: "the file to write; - is standard output" },
  force: { name: "force", does: "overwrite existing files" },
  compression: { name: "compress", takes: COMPRESSION, otherwise: "none", does: "compress the output" },
  split: {
    name: "split",
    takes: SPLIT,
    otherwise: "one file",
    does: "write a file for each into the directory --out, which is created if it is missing",
  },
  simplifyMeters: {
    name: "simplify",
    takes: TOLERANCE,
    otherwise: "all records",
    does: "omit positions that lie within this distance of the remaining track",
  },
  redact: { name: "redact", does: "replace device names by numbers, and omit users" },
  originals: {
    name: "originals",
    does: "write what was reported, without corrections; with --url the key needs edit too",
  },
  recordSeparator: { name: "rs", does: "for geojsonseq: begin each line with RFC 8142's separator" },
  gapMs: {
    name: "gap",
    takes: GAP,
    default: DEFAULT_GAP_MS,
    does: "the silence after which gpx, kml and kmz begin a new track",
  },
  url: { name: "url", takes: SERVER_URL, does: "a running server" },
  key: {
    name: "key",
    takes: KEY,
    goesWith: "url",
    variable: "WHEREHOUSE_KEY",
    does: "a key of that server that may read; other users can't see the variable",
  },
} as const satisfies FlagRows;

export const EXPORT = defineCommand({
  name: "export",
  takes: "",
  summary: "export records to files for other programs",
  flags: EXPORT_FLAGS,
  help: {
    ways: [
      "--app APP --format FORMAT",
      "--app APP --complete --user USER --out FILE",
      "--url URL --key KEY --format FORMAT",
    ],
    before: `\
Writes all records of an app to a file or standard output: directly from the data directory or, while a server
runs on it, through the server. The formats are
${EXPORT_FORMATS.map(({ name }) => name).join(", ")}.
ndjson, csv and parquet have every field and can be re-imported without loss; the others keep only what their
format can express. See docs/exporting.md.

A file is written under a temporary name and renamed at the end, so an existing file is complete. The command
prints the number of records; with --out - it prints that last, on standard error.`,
    after: `--complete answers a person who asks what is stored: records as answers show them and as they were
reported (CSV, GeoJSON, GPX), profiles, corrections, quarantined messages, keys without their secrets, and a
README. Through a server it needs a key that may read and edit, and the server's directory as --data-dir, from
which it reads the keys.

--split writes one file for each day, month or device that has records, and names it accordingly. Ctrl-C
removes the unfinished file. Exit code 1 if a file could not be written completely, or if it exists and
--force is missing.`,
    example: (program) => `${program} export --app default --format gpx --from 2025-01-01 --out 2025.gpx
  ${program} export --app default --format ndjson --compress zstd --out everything.ndjson.zst
  ${program} export --app default --complete --user anna --out anna.zip`,
  },
  parse: parseExport,
});

export type ExportOptions = RecordsExport | CompleteExport;

interface CommonExport {
  readonly dataDir: string;
  readonly source: ExportSource;
  readonly options: WriteOptions;
  /** Empty for all devices. */
  readonly deviceIds: readonly DeviceId[];
  readonly userId: UserId | null;
  /** A path, or `-` for standard output; a directory if the export is split. */
  readonly out: string;
  readonly force: boolean;
}

/** Writes records in one format. */
export interface RecordsExport extends CommonExport {
  readonly content: "records";
  readonly format: ExportFormat;
  /** Whether records are written without corrections. */
  readonly originals: boolean;
  /** Null for the first record's day. */
  readonly from: LocalDate | null;
  /** Null for today. */
  readonly to: LocalDate | null;
  readonly compression: Compression | null;
  readonly split: Split | null;
}

/** Writes all that is stored about devices or a user as a ZIP. */
export interface CompleteExport extends CommonExport {
  readonly content: "complete";
  /** Whether parts may be missing. */
  readonly isPartial: boolean;
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

/** Formats that are compressed by themselves. */
const COMPRESSED_FORMATS = ["parquet", "kmz"];

function parseExport({ values, dataDir }: CommandInput<typeof EXPORT_FLAGS>): Result<ExportOptions, string> {
  const { deviceIds, userId, out, force, isPartial } = values;
  const { format, originals, from, to, compression, split } = values;
  const { zone, redact, recordSeparator, gapMs, simplifyMeters } = values;
  const fault = values.isComplete ? completeFaultOf(values) : faultOf(values);
  if (fault !== null) return fail(fault);
  const source = parseSource(values);
  if (!source.ok) return source;
  const options = { zone, redact, recordSeparator, gapMs, simplifyMeters };
  const common = { dataDir, source: source.value, options, deviceIds, userId, out, force };
  if (values.isComplete) return ok({ content: "complete", ...common, isPartial });
  if (isPartial) return fail("--partial goes with --complete");
  if (format === null) return fail("export needs --format, or --complete");
  return ok({ content: "records", ...common, format, originals, from, to, compression, split });
}

/** Why the options don't go with `--complete`; null if they do. */
function completeFaultOf(values: Values): string | null {
  const { deviceIds, userId } = values;
  if (deviceIds.length === 0 && userId === null) return "--complete needs --device or --user";
  if (deviceIds.length > 0 && userId !== null)
    return "--complete takes --device or --user, not both: a user's devices are found";
  const others = {
    "--format": values.format,
    "--from": values.from,
    "--to": values.to,
    "--compress": values.compression,
    "--split": values.split,
    "--simplify": values.simplifyMeters,
    "--redact": values.redact || null,
    "--originals": values.originals || null,
    "--rs": values.recordSeparator || null,
  };
  const [other] = Object.entries(others).find(([, value]) => value !== null) ?? [];
  return other === undefined ? null : `--complete writes everything in its own formats: omit ${other}`;
}

/** Which options contradict each other; null if none do. */
function faultOf({
  format,
  from,
  to,
  out,
  compression,
  split,
  simplifyMeters,
  redact,
  recordSeparator,
}: Values) {
  if (from !== null && to !== null && from > to) return "--from must not be after --to";
  if (split !== null && out === "-") return "--split needs --out, the directory to write the files to";
  if ((split === "day" || split === "month") && from === null) return `--split ${split} needs --from`;
  if (split !== null && redact)
    return "--redact numbers the devices of one file, so it can't be used with --split";
  if (format === null) return null;
  if (compression !== null && COMPRESSED_FORMATS.includes(format.name))
    return `${format.name} is compressed already: omit --compress`;
  if (simplifyMeters !== null && !format.marksSimplified)
    return `${format.name} can't note that tracks were simplified: omit --simplify`;
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
