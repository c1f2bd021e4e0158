import { EXTENT_METERS_MAX, EXTENT_METERS_MIN } from "../../geofences/parse/rules.ts";
import { ok, type Result } from "../../lib/result.ts";
import { APP_FLAGS, type AppChoice, parseAppChoice } from "../arguments/app-choice.ts";
import { type CommandInput, defineCommand, oneArgument } from "../arguments/command.ts";
import type { FlagRows } from "../arguments/flag-row.ts";
import { parseWholeNumber, ruled } from "../arguments/value-kinds.ts";

/* The commands that list, import and export geofences, in a data directory or through a running server. */

const TAG = ruled("TAG", "not be empty", (text) => (text === "" ? null : text));

const METERS = ruled(
  "METERS",
  `be a whole number from ${EXTENT_METERS_MIN} to ${EXTENT_METERS_MAX}`,
  (text) => parseWholeNumber(text, EXTENT_METERS_MIN, EXTENT_METERS_MAX),
);

const LIST_FLAGS = {
  ...APP_FLAGS,
  tag: { name: "tag", takes: TAG, otherwise: "all", does: "only geofences with this tag" },
  json: { name: "json", does: "print JSON" },
} as const satisfies FlagRows;

export const GEOFENCES_LIST = defineCommand({
  name: "geofences list",
  takes: "",
  summary: "list the geofences of an app",
  flags: LIST_FLAGS,
  help: {
    ways: ["--app APP", "--url URL --key KEY"],
    before: "Lists geofences in the order in which they were made. The key needs the permission read.",
    example: (program) => `${program} geofences list --app shop`,
  },
  parse: parseList,
});

export interface GeofencesListOptions {
  readonly choice: AppChoice;
  readonly tag: string | null;
  readonly json: boolean;
}

function parseList({
  values,
  dataDir,
}: CommandInput<typeof LIST_FLAGS>): Result<GeofencesListOptions, string> {
  const { tag, json, ...where } = values;
  const choice = parseAppChoice("geofences list", where, dataDir);
  return choice.ok ? ok({ choice: choice.value, tag, json }) : choice;
}

const IMPORT_FLAGS = {
  ...APP_FLAGS,
  radiusMeters: {
    name: "radius",
    takes: METERS,
    otherwise: "100",
    does: "the radius of points in KML and GPX",
  },
  bufferMeters: {
    name: "buffer",
    takes: METERS,
    otherwise: "50",
    does: "how far lines in KML and routes in GPX reach to their sides",
  },
  isDryRun: { name: "dry-run", does: "change nothing, and say what the file has" },
} as const satisfies FlagRows;

export const GEOFENCES_IMPORT = defineCommand({
  name: "geofences import",
  takes: "FILE",
  summary: "make the geofences of a GeoJSON, KML or GPX file",
  flags: IMPORT_FLAGS,
  help: {
    ways: ["FILE --app APP", "FILE --url URL --key KEY"],
    before: `Makes all geofences of a GeoJSON FeatureCollection, of KML, or of GPX, whose routes become corridors; or none, if one
is not valid. Their ids are printed on standard output. The key needs the permission manage.`,
    example: (program) => `${program} geofences import depots.geojson --app shop`,
  },
  parse: parseImport,
});

export interface GeofencesImportOptions {
  readonly choice: AppChoice;
  readonly file: string;
  readonly radiusMeters: number;
  readonly bufferMeters: number;
  readonly isDryRun: boolean;
}

function parseImport({
  values,
  dataDir,
  positionals,
}: CommandInput<typeof IMPORT_FLAGS>): Result<GeofencesImportOptions, string> {
  const file = oneArgument(positionals, "geofences import", { needs: "a file", takes: "one file" });
  if (!file.ok) return file;
  const { radiusMeters, bufferMeters, isDryRun, ...where } = values;
  const choice = parseAppChoice("geofences import", where, dataDir);
  if (!choice.ok) return choice;
  const extents = { radiusMeters: radiusMeters ?? 100, bufferMeters: bufferMeters ?? 50 };
  return ok({ choice: choice.value, file: file.value, ...extents, isDryRun });
}

export const GEOFENCES_EXPORT = defineCommand({
  name: "geofences export",
  takes: "",
  summary: "write the geofences of an app as GeoJSON",
  flags: APP_FLAGS,
  help: {
    ways: ["--app APP", "--url URL --key KEY"],
    before: `Writes a FeatureCollection to standard output, which geofences import takes. The key needs the permission read.`,
    example: (program) => `${program} geofences export --app shop > depots.geojson`,
  },
  parse: parseExport,
});

export interface GeofencesExportOptions {
  readonly choice: AppChoice;
}

function parseExport({
  values,
  dataDir,
}: CommandInput<typeof APP_FLAGS>): Result<GeofencesExportOptions, string> {
  const choice = parseAppChoice("geofences export", values, dataDir);
  return choice.ok ? ok({ choice: choice.value }) : choice;
}
