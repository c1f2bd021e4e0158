import { OPEN_BRACE, OPEN_BRACKET } from "../lib/text/ascii.ts";
import { parseJson } from "../lib/text/long-json.ts";
import { type Content, listOf } from "./content.ts";
import { isJsonObject } from "./reading/values.ts";

/*
 * Files that apps and people upload to a path of reports: a track, an archive, a photo. Nothing of one could ever be
 * a report there, and an app that is told of success deletes the file.
 */

/** Types that name a file, whatever the body is. Of others a body says more than its type, which clients get wrong. */
const FILE_TYPE =
  /^(?:multipart|image|audio|video|font|model)\/|[/+.-](?:xml|gpx|kml|kmz|tcx|fit|zip|gzip|tar|rar|pdf|nmea|sqlite3?|parquet|7z-compressed)(?:$|[+.-])/;

/** Types that a report may have: also of these a body may be a file. */
const REPORT_TYPE =
  /^(?:$|text\/|application\/(?:x-www-form-urlencoded|octet-stream|json)$)|\+json$|[/.-]json$/;

/** By its `Content-Type` alone, before anything of it is read. */
export function isFileByType(contentType: string | undefined): boolean {
  return FILE_TYPE.test(mediaTypeOf(contentType));
}

function mediaTypeOf(contentType: string | undefined): string {
  return (contentType ?? "").split(";", 1)[0]!.trim().toLowerCase();
}

/** By what it holds. What begins as JSON is a report that may be damaged, unless it is a file of JSON that is known. */
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

/** What is looked at: the magic numbers of all files, the header of a table, the first of many lines. */
const BEGINNING_BYTES = 4096;
/** Blanks before it that are passed over: Strava puts some before its files. */
const BLANKS_MAX = 64 * 1024;
/** Blanks, and the bytes of UTF-8's byte order mark. */
const BLANKS = new Set([0x20, 0x09, 0x0a, 0x0d, 0xef, 0xbb, 0xbf]);
/** Control characters of texts: tab, line feed, form feed, carriage return. */
const TEXT_CONTROLS = new Set([0x09, 0x0a, 0x0c, 0x0d]);

/** Archives, photos, FIT, databases: no text has such control characters. */
function isBinary(beginning: Uint8Array): boolean {
  return beginning.some((byte) => byte < 0x20 && !TEXT_CONTROLS.has(byte));
}

/** GPX, KML, TCX and pages; parts of a form; logs of NMEA; PDF; IGC. */
const TEXT_FILES = [/^</, /^--\S{4,}\r?\n/, /^\$[A-Z]{4,5},/, /^%PDF-/, /^A[A-Z]{3}[^\r\n]*\r?\nH[FOP]/];

function isTextFile(beginning: Uint8Array): boolean {
  const text = new TextDecoder().decode(beginning);
  return TEXT_FILES.some((kind) => kind.test(text)) || isLines(text);
}

/** Tables, logs and other texts of lines; a form is one line, and one of several lines begins with a value's name. */
function isLines(text: string): boolean {
  const end = text.search(LINE_END);
  if (end < 0 || text.slice(end).trim() === "") return false;
  const line = text.slice(0, end);
  return !FORM_VALUE.test(line) || SEPARATOR_LINE.test(line);
}

const LINE_END = /[\r\n]/;
const FORM_VALUE = /^[\w.%[\]-]+=/;
/** Tells a spreadsheet what stands between the cells of the lines behind it. */
const SEPARATOR_LINE = /^sep=.$/i;

/** Values of JSON line by line, of which a message has one; damage leaves no whole one before a line's end. */
function isJsonLines(beginning: Uint8Array): boolean {
  const text = new TextDecoder().decode(beginning);
  const end = text.search(LINE_END);
  return end >= 0 && text.slice(end).trim() !== "" && parseJson(text.slice(0, end)) !== undefined;
}

/** Names of members at the top of what Google's Timeline exports. */
const GOOGLE_MEMBERS = ["semanticSegments", "timelineObjects", "rawSignals", "timelineEdits"];

/** Types of what GeoJSON and TopoJSON have at the top. */
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

/** GeoJSON, and what Google exports. */
function isJsonFile(value: unknown): boolean {
  if (isJsonObject(value)) {
    if (GEO_TYPES.has(value.type)) return true;
    if (GOOGLE_MEMBERS.some((name) => value[name] !== undefined)) return true;
  }
  const [first] = listOf(isJsonObject(value) ? value.locations : value) ?? [];
  if (!isJsonObject(first)) return false;
  return first.latitudeE7 !== undefined || (first.startTime !== undefined && first.endTime !== undefined);
}
