import { fail, ok, type Result } from "../../lib/result.ts";
import type { Steps } from "../../lib/schedule/steps.ts";
import { LF } from "../../lib/text/ascii.ts";
import { kindAt, PIECE_BYTES_MAX, parseJson, walkElements, walkMembers } from "../../lib/text/long-json.ts";
import {
  afterMark,
  type ByteRange,
  decodeUtf8,
  skipWhite,
  trimmed,
  walkTrimmed,
  walkUtf8,
} from "../../lib/text/long-text.ts";
import type { ServiceError } from "../../model/errors.ts";
import { TOO_MANY_REPORTS } from "../../model/report.ts";
import { BATCH_REPORTS_MAX } from "../../model/report-batch.ts";
import { CollectedReports, type ReadReports, type ReportRules } from "./collect-reports.ts";
import { REPORT_MEMBERS, readMembersAt, readReportAt } from "./long-json.ts";
import { readReportList } from "./report-list.ts";

/** Formats of bodies: `{"locations":[...]}` or one report; or one report per line. */
export type ReportFormat = "json" | "ndjson";

/** The format of a `Content-Type`; null if it is not one for reports. */
export function reportFormat(contentType: string | null): ReportFormat | null {
  const [mediaType = ""] = (contentType ?? "").split(";", 1);
  switch (mediaType.trim().toLowerCase()) {
    case "application/json":
      return "json";
    case "application/x-ndjson":
      return "ndjson";
    default:
      return null;
  }
}

type Read = Result<ReadReports, ServiceError>;

/** Reads a body in steps of a few milliseconds at most, whatever it contains. */
export function* readReports(body: Uint8Array, format: ReportFormat, rules: ReportRules): Steps<Read> {
  if (body.length === 0) return unreadable("the body is empty");
  if (format === "ndjson") return yield* readNdjson(body, rules);
  const list = yield* readReportList(body, rules);
  if (list !== null) return list;
  return body.length <= PIECE_BYTES_MAX ? readShortJson(body, rules) : yield* readLongJson(body, rules);
}

function readShortJson(body: Uint8Array, rules: ReportRules): Read {
  const text = decodeUtf8(body);
  if (text === null) return unreadable(NO_UTF8);
  const value = parseJson(text);
  if (value === undefined) return unreadable(NO_JSON);
  if (Array.isArray(value)) return unreadable(BARE_LIST);
  if (typeof value !== "object" || value === null) return unreadable(NO_OBJECT);
  const { locations } = value as { locations?: unknown };
  const collected = new CollectedReports(rules);
  if (locations === undefined) collected.add(value, 0);
  else if (!Array.isArray(locations)) return unreadable(NO_LIST);
  else if (locations.length > BATCH_REPORTS_MAX) return tooMany();
  else addAll(locations, locations.length, collected);
  return ok(collected.end());
}

function addAll(reports: readonly unknown[], expected: number, collected: CollectedReports): void {
  let following = expected;
  for (const report of reports) collected.add(report, --following);
}

/** Reads any other long body: validates all of it before it parses any part. */
function* readLongJson(body: Uint8Array, rules: ReportRules): Steps<Read> {
  const start = yield* skipWhite(body, afterMark(body, 0));
  const whole = { start, end: body.length };
  if (!(yield* walkUtf8(body, whole))) return unreadable(NO_UTF8);
  const { ranges, fault } = yield* walkMembers(body, whole, REPORT_MEMBERS);
  if (fault !== null) return unreadable(fault === "depth" ? TOO_DEEP : NO_JSON);
  const kind = kindAt(body, whole);
  if (kind !== "object") return unreadable(kind === "array" ? BARE_LIST : NO_OBJECT);
  const collected = new CollectedReports(rules);
  const list = ranges.get("locations");
  if (list === undefined) {
    collected.add(yield* readMembersAt(body, ranges), 0);
    return ok(collected.end());
  }
  if (kindAt(body, list) !== "array") return unreadable(NO_LIST);
  const reports = yield* walkElements(body, list, BATCH_REPORTS_MAX);
  if (reports === null) return tooMany();
  let following = reports.length;
  for (const report of reports) {
    collected.add(yield* readReportAt(body, report), --following);
    yield;
  }
  return ok(collected.end());
}

/** Ignores blank lines; rejects an invalid line under its index, like any invalid report. */
function* readNdjson(body: Uint8Array, rules: ReportRules): Steps<Read> {
  const lines = yield* findLines(body);
  if (lines.length > BATCH_REPORTS_MAX) return tooMany();
  const collected = new CollectedReports(rules, body);
  let following = lines.length;
  let stepBytes = 0;
  for (const line of lines) {
    following--;
    const length = line.end - line.start;
    if (length > PIECE_BYTES_MAX) yield* addLongLine(body, line, following, collected);
    else addLine(body, line, following, collected);
    stepBytes += length;
    if (stepBytes < PIECE_BYTES_MAX) continue;
    yield;
    stepBytes = 0;
  }
  return ok(collected.end());
}

function addLine(body: Uint8Array, line: ByteRange, following: number, collected: CollectedReports): void {
  const { start, end } = trimmed(body, line.start, line.end);
  if (collected.read(start, end, following) === end) {
    collected.addRead();
    return;
  }
  const text = decodeUtf8(body.subarray(start, end));
  const report = text === null ? undefined : parseJson(text);
  if (text === null) collected.reject(LINE_NO_UTF8);
  else if (report === undefined) collected.reject(LINE_NO_JSON);
  else collected.add(report, following);
}

function* addLongLine(
  body: Uint8Array,
  line: ByteRange,
  following: number,
  collected: CollectedReports,
): Steps<void> {
  const range = yield* walkTrimmed(body, { start: afterMark(body, line.start), end: line.end });
  if (!(yield* walkUtf8(body, range))) return collected.reject(LINE_NO_UTF8);
  const { ranges, fault } = yield* walkMembers(body, range, REPORT_MEMBERS);
  if (fault !== null) return collected.reject(fault === "depth" ? LINE_TOO_DEEP : LINE_NO_JSON);
  const isObject = kindAt(body, range) === "object";
  collected.add(isObject ? yield* readMembersAt(body, ranges) : yield* readReportAt(body, range), following);
}

/** Lines that aren't blank, at most one more than a batch may have. */
function* findLines(body: Uint8Array): Steps<ByteRange[]> {
  const lines: ByteRange[] = [];
  let start = 0;
  while (lines.length <= BATCH_REPORTS_MAX) {
    start = yield* skipWhite(body, start);
    if (start === body.length) break;
    const newline = body.indexOf(LF, start);
    const end = newline < 0 ? body.length : newline;
    lines.push({ start, end });
    start = end;
  }
  return lines;
}

const NO_UTF8 = "the body is not valid UTF-8";
const NO_JSON = "the body is not valid JSON: it cannot be parsed";
const TOO_DEEP = "the body is not valid JSON: it is nested too deeply";
const NO_OBJECT = 'the body must be {"locations":[...]} or one report';
const BARE_LIST =
  'the body is a bare array: wrap it as {"locations":[...]}, or send one report per line as application/x-ndjson';
const NO_LIST = "locations must be an array of reports";
const LINE_NO_UTF8 = "the line is not valid UTF-8";
const LINE_NO_JSON = "the line is not valid JSON: it cannot be parsed";
const LINE_TOO_DEEP = "the line is not valid JSON: it is nested too deeply";

/** Not a 400, because the body is readable. */
function tooMany(): { readonly ok: false; readonly error: ServiceError } {
  return fail({ kind: "body_too_large", message: TOO_MANY_REPORTS });
}

function unreadable(message: string): { readonly ok: false; readonly error: ServiceError } {
  return fail({ kind: "body_unreadable", message });
}
