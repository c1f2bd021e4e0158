import { OPEN_BRACE, OPEN_BRACKET } from "../lib/text/ascii.ts";
import { parseJson } from "../lib/text/long-json.ts";
import { type Content, listOf } from "./content.ts";
import { isJsonObject } from "./reading/values.ts";

/*
 * Files that apps and people upload to an ingest path: a track, an archive, a photo. Nothing in them can be a report on
 * that path, and an app that gets a success answer deletes the file.
 */

/** Media types of files, whatever the body is. For other types the body decides, because clients send wrong types. */
const FILE_TYPE =
  /^(?:multipart|image|audio|video|font|model)\/|[/+.-](?:xml|gpx|kml|kmz|tcx|fit|zip|gzip|tar|rar|pdf|nmea|sqlite3?|parquet|7z-compressed)(?:$|[+.-])/;

/** Media types that a report may have. A body with one of them may still be a file. */
const REPORT_TYPE =
  /^(?:$|text\/|application\/(?:x-www-form-urlencoded|octet-stream|json)$)|\+json$|[/.-]json$/;

/** Decides by the `Content-Type` alone, before the body is read. */
export function isFileByType(contentType: string | undefined): boolean {
  return FILE_TYPE.test(mediaTypeOf(contentType));
}

function mediaTypeOf(contentType: string | undefined): string {
  return (contentType ?? "").split(";", 1)[0]!.trim().toLowerCase();
}

/** Decides by the content. JSON, even damaged, is a report unless it is a known file format. */
export function isFile(body: Uint8Array, content: Content, contentType: string | undefined): boolean {
  switch (content.kind) {
    case "empty":
      return false;
    case "json":
      return isJsonFile(content.value);
    default: {
      const start = body.subarray(0, BLANKS_MAX).findIndex((byte) => !BLANKS.has(byte));
      const beginning = body.subarray(Math.max(start, 0)).subarray(0, BEGINNING_BYTES);
      const [first] = beginning;
      if (first === OPEN_BRACE || first === OPEN_BRACKET) return isJsonLines(beginning);
      return !REPORT_TYPE.test(mediaTypeOf(contentType)) || isBinary(beginning) || isTextFile(beginning);
    }
  }
}

/** How much is examined: enough for all magic numbers, a table's header, and the first of many lines. */
const BEGINNING_BYTES = 4096;
/** Leading blanks that are skipped: Strava writes some before its files. */
const BLANKS_MAX = 64 * 1024;
/** Blanks, and the bytes of UTF-8's byte order mark. */
const BLANKS = new Set([0x20, 0x09, 0x0a, 0x0d, 0xef, 0xbb, 0xbf]);
const TEXT_CONTROLS = new Set([0x09, 0x0a, 0x0c, 0x0d]);

/** Archives, photos, FIT, databases: only they have control characters other than those of texts. */
function isBinary(beginning: Uint8Array): boolean {
  return beginning.some((byte) => byte < 0x20 && !TEXT_CONTROLS.has(byte));
}

/** GPX, KML, TCX and HTML; parts of a form; NMEA logs; PDF; IGC. */
const TEXT_FILES = [/^</, /^--\S{4,}\r?\n/, /^\$[A-Z]{4,5},/, /^%PDF-/, /^A[A-Z]{3}[^\r\n]*\r?\nH[FOP]/];

function isTextFile(beginning: Uint8Array): boolean {
  const text = new TextDecoder().decode(beginning);
  return TEXT_FILES.some((kind) => kind.test(text)) || isLines(text);
}

/** Tables, logs and other texts of lines. A form has one line, or its first line begins with a name and a value. */
function isLines(text: string): boolean {
  const end = text.search(LINE_END);
  if (end < 0 || text.slice(end).trim() === "") return false;
  const line = text.slice(0, end);
  return !FORM_VALUE.test(line) || SEPARATOR_LINE.test(line);
}

const LINE_END = /[\r\n]/;
const FORM_VALUE = /^[\w.%[\]-]+=/;
/** Tells a spreadsheet which character separates the cells in the lines after it. */
const SEPARATOR_LINE = /^sep=.$/i;

/** JSON values line by line. A message is one value, and a damaged one has no complete value on its first line. */
function isJsonLines(beginning: Uint8Array): boolean {
  const text = new TextDecoder().decode(beginning);
  const end = text.search(LINE_END);
  return end >= 0 && text.slice(end).trim() !== "" && parseJson(text.slice(0, end)) !== undefined;
}

/** Top-level members of Google's Timeline exports. */
const GOOGLE_MEMBERS = ["semanticSegments", "timelineObjects", "rawSignals", "timelineEdits"];

/** Top-level types of GeoJSON and TopoJSON. */
const GEO_TYPES = new Set<unknown>([
  "FeatureCollection",
  "Feature",
  "GeometryCollection",
  "Point",
  "MultiPoint",
  "LineString",
  "MultiLineString",
  "Polygon",
  "MultiPolygon",
  "Topology",
]);

function isJsonFile(value: unknown): boolean {
  if (isJsonObject(value)) {
    if (GEO_TYPES.has(value.type)) return true;
    if (GOOGLE_MEMBERS.some((name) => value[name] !== undefined)) return true;
  }
  const [first] = listOf(isJsonObject(value) ? value.locations : value) ?? [];
  if (!isJsonObject(first)) return false;
  return first.latitudeE7 !== undefined || (first.startTime !== undefined && first.endTime !== undefined);
}
