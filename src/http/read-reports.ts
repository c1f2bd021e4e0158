import { fail, ok, type Result } from "../lib/result.ts";
import type { ServiceError } from "../model/errors.ts";
import { type AcceptedTimes, addReport, type RejectedReport, TOO_MANY_REPORTS } from "../model/report.ts";
import {
  BATCH_REPORTS_MAX,
  createReportBatchBuilder,
  type ReportBatch,
  type ReportBatchBuilder,
} from "../model/report-batch.ts";

/** The good reports of a body, and what is wrong with the others. */
export interface ReadReports {
  readonly batch: ReportBatch;
  readonly rejected: readonly RejectedReport[];
}

/** Bodies that hold reports: `{"locations":[...]}` or one report, or one report a line. */
export type ReportFormat = "json" | "ndjson";

/** The format a `Content-Type` names; null for one that reports don't come in. */
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

export function readReports(
  body: Uint8Array,
  format: ReportFormat,
  times: AcceptedTimes,
): Result<ReadReports, ServiceError> {
  return format === "json" ? readJson(body, times) : readNdjson(body, times);
}

function readJson(body: Uint8Array, times: AcceptedTimes): Result<ReadReports, ServiceError> {
  if (body.length === 0) return unreadable("the body is empty");
  const text = decodeUtf8(body);
  if (text === null) return unreadable("the body is not valid UTF-8");
  const parsed = parseJson(text);
  if (!parsed.ok) return unreadable(`the body is not valid JSON: ${parsed.error}`);
  const value = parsed.value;
  if (typeof value !== "object" || value === null || Array.isArray(value)) {
    return unreadable('the body must be {"locations":[...]} or one report');
  }
  const { locations } = value as { locations?: unknown };
  if (locations === undefined) return ok(readEach([value], times));
  if (!Array.isArray(locations)) return unreadable("locations must be an array of reports");
  if (locations.length > BATCH_REPORTS_MAX) return tooMany();
  return ok(readEach(locations, times));
}

function readEach(reports: readonly unknown[], times: AcceptedTimes): ReadReports {
  const builder = createReportBatchBuilder(reports.length);
  const rejected: RejectedReport[] = [];
  for (let index = 0; index < reports.length; index++) {
    addOrReject(reports[index], index, times, builder, rejected);
  }
  return { batch: builder.build(), rejected };
}

/** Blank lines don't count; a line that is no JSON is rejected under its index like any bad report. */
function readNdjson(body: Uint8Array, times: AcceptedTimes): Result<ReadReports, ServiceError> {
  if (body.length === 0) return unreadable("the body is empty");
  const lines = splitLines(body);
  if (lines.length > BATCH_REPORTS_MAX) return tooMany();
  const builder = createReportBatchBuilder(lines.length);
  const rejected: RejectedReport[] = [];
  for (let index = 0; index < lines.length; index++) {
    const line = lines[index]!;
    if (line === null) {
      rejected.push({ index, message: "the line is not valid UTF-8" });
      continue;
    }
    const parsed = parseJson(line);
    if (parsed.ok) addOrReject(parsed.value, index, times, builder, rejected);
    else rejected.push({ index, message: `the line is not valid JSON: ${parsed.error}` });
  }
  return ok({ batch: builder.build(), rejected });
}

function addOrReject(
  report: unknown,
  index: number,
  times: AcceptedTimes,
  builder: ReportBatchBuilder,
  rejected: RejectedReport[],
): void {
  const fault = addReport(report, times, builder);
  if (fault === null) return;
  const deviceId = (report as { device_id?: unknown } | null)?.device_id;
  rejected.push({ index, message: fault, ...(isShowable(deviceId) ? { deviceId } : {}) });
}

const DEVICE_ID_SHOWN_MAX = 256;

function isShowable(deviceId: unknown): deviceId is string {
  return typeof deviceId === "string" && deviceId.length <= DEVICE_ID_SHOWN_MAX;
}

/** Lines that aren't blank, at most one more than a batch takes; null for one that is not valid UTF-8. */
function splitLines(body: Uint8Array): (string | null)[] {
  const lines: (string | null)[] = [];
  let start = 0;
  while (lines.length <= BATCH_REPORTS_MAX) {
    while (isBlank(body[start])) start++; // Byte by byte: a body may be megabytes of blank lines.
    if (start === body.length) break;
    const newline = body.indexOf(LF, start);
    const end = newline < 0 ? body.length : newline;
    lines.push(decodeUtf8(body.subarray(start, end)));
    start = end;
  }
  return lines;
}

const LF = 0x0a;

/** JSON's white space, line ends included. */
function isBlank(byte: number | undefined): boolean {
  return byte === 0x20 || byte === LF || byte === 0x0d || byte === 0x09;
}

const decoder = new TextDecoder("utf-8", { fatal: true });

/** A byte order mark at the start is no part of the text. */
function decodeUtf8(bytes: Uint8Array): string | null {
  try {
    return decoder.decode(bytes);
  } catch {
    return null;
  }
}

function parseJson(text: string): Result<unknown, string> {
  try {
    return ok(JSON.parse(text) as unknown);
  } catch (error) {
    // The engines' own words differ and may quote the input, so only their gist is passed on.
    return fail(error instanceof RangeError ? "it is nested too deeply" : "it cannot be parsed");
  }
}

/** A body that can be read is no 400: it is too large in what it holds. */
function tooMany(): { readonly ok: false; readonly error: ServiceError } {
  return fail({ kind: "body_too_large", message: TOO_MANY_REPORTS });
}

function unreadable(message: string): { readonly ok: false; readonly error: ServiceError } {
  return fail({ kind: "body_unreadable", message });
}
