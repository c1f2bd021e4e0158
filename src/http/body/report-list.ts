import { Buffer } from "node:buffer";
import { ok, type Result } from "../../lib/result.ts";
import type { Steps } from "../../lib/schedule/steps.ts";
import { CLOSE_BRACE, CLOSE_BRACKET, COMMA, OPEN_BRACE, OPEN_BRACKET } from "../../lib/text/ascii.ts";
import { PIECE_BYTES_MAX, parseJson } from "../../lib/text/long-json.ts";
import { afterWhite, decodeUtf8, trimmed } from "../../lib/text/long-text.ts";
import type { ServiceError } from "../../model/errors.ts";
import { BATCH_REPORTS_MAX } from "../../model/report-batch.ts";
import { CollectedReports, type ReadReports, type ReportRules } from "./collect-reports.ts";

/*
 * Reads the usual form of a list of reports directly from its bytes. If a report can't be read this way, the list is
 * cut after it, or after some more, and the part before the cut is parsed.
 */

/**
 * Null if the body has another form; that costs no more than the part read so far. The list is cut without examining
 * the rest, which is as good as parsing the whole: if every part between brackets is an array, so is their
 * concatenation with commas, and a cut inside a text or a report leaves a part that is not an array.
 */
export function* readReportList(
  body: Uint8Array,
  rules: ReportRules,
): Steps<Result<ReadReports, ServiceError> | null> {
  const start = startOfList(body);
  const end = start === null ? null : endOfList(body);
  if (start === null || end === null) return null;
  const list = new ReportList(body, start, end, rules);
  while (list.readSome()) {
    if (list.isRead) return ok(list.collected.end());
    yield;
  }
  return null;
}

const LIST_HEAD = /^(?:\u00ef\u00bb\u00bf)?[ \t\r\n]*\{[ \t\r\n]*"locations"[ \t\r\n]*:[ \t\r\n]*\[/;
/** How far the reader looks before the first report, after the last, and between two; mostly there are blanks. */
const EDGE_BYTES_MAX = 64;

/** The position of the list's opening bracket; null if the body begins with anything else. */
function startOfList({ buffer, byteOffset, byteLength }: Uint8Array): number | null {
  const edge = Buffer.from(buffer, byteOffset, Math.min(byteLength, EDGE_BYTES_MAX));
  const head = LIST_HEAD.exec(edge.toString("latin1"));
  return head === null ? null : head[0].length - 1;
}

/** The position of the list's closing bracket before the final brace; null if the body ends with anything else. */
function endOfList(body: Uint8Array): number | null {
  const brace = trimmed(body, body.length - EDGE_BYTES_MAX, body.length).end - 1;
  if (body[brace] !== CLOSE_BRACE) return null;
  const bracket = trimmed(body, body.length - EDGE_BYTES_MAX, brace).end - 1;
  return body[bracket] === CLOSE_BRACKET ? bracket : null;
}

class ReportList {
  readonly collected: CollectedReports;
  readonly #body: Uint8Array;
  readonly #end: number;
  /** Size of the first report; the others are mostly similar. */
  readonly #reportBytes: number;
  /** Position of the bracket or comma after the reports read so far. */
  #open: number;
  /** The least that is parsed if a report can't be read. */
  #parsedBytesMin = 0;

  constructor(body: Uint8Array, start: number, end: number, rules: ReportRules) {
    this.#body = body;
    this.#open = start;
    this.#end = end;
    this.#reportBytes = body.indexOf(CLOSE_BRACE, start) + 1 - start;
    this.collected = new CollectedReports(rules, body);
  }

  get isRead(): boolean {
    return this.#open === this.#end;
  }

  /** Reads some reports; false if the list can't be read this way. */
  readSome(): boolean {
    const until = Math.min(this.#open + PIECE_BYTES_MAX, this.#end);
    do {
      const following = Math.ceil((SPARE * (this.#end - this.#open)) / this.#reportBytes) - 1;
      const reportEnd = this.collected.read(this.#afterBlanks(this.#open + 1), this.#end, following);
      const isGood = reportEnd < 0 ? this.#parsePiece(following) : this.#takeRead(reportEnd);
      if (!isGood || this.collected.count > BATCH_REPORTS_MAX) return false;
    } while (this.#open < until);
    return true;
  }

  /** Appends the report that was read, if a comma or the end of the list follows it. */
  #takeRead(reportEnd: number): boolean {
    const next = this.#afterBlanks(reportEnd);
    if (next !== this.#end && this.#body[next] !== COMMA) return false;
    this.collected.addRead();
    this.#open = next;
    this.#parsedBytesMin >>= 1;
    return true;
  }

  #parsePiece(following: number): boolean {
    const [open, end] = [this.#open, this.#end];
    const isLast = end - open <= PIECE_BYTES_MAX;
    const cut = cutAfter(this.#body, open + this.#parsedBytesMin, isLast ? end : open + PIECE_BYTES_MAX);
    const close = cut === null && isLast ? end : cut;
    const reports = close === null ? null : listBetween(this.#body, open, close);
    const isEmpty = reports?.length === 0 && this.collected.count > 0; // After a comma there must be a report.
    if (reports === null || isEmpty) return false;
    reports.forEach((report, index) => {
      this.collected.add(report, following - index);
    });
    this.#open = close!;
    // If a few can't be read, trying each would take longer than parsing all of them.
    this.#parsedBytesMin = Math.min(4 * this.#parsedBytesMin + 1024, PARSED_BYTES_MIN_MAX);
    return true;
  }

  #afterBlanks(from: number): number {
    return afterWhite(this.#body, from, from + EDGE_BYTES_MAX);
  }
}

/** A few surplus rows cost less than too few. */
const SPARE = 1.1;

/** Leaves room for a report or two of usual size: each part costs some microseconds. */
const PARSED_BYTES_MIN_MAX = (3 / 4) * PIECE_BYTES_MAX;

/** The position of the comma after the first report that ends after `from`, before another; null if there is none. */
function cutAfter(body: Uint8Array, from: number, to: number): number | null {
  for (let at = from; at < to; ) {
    const brace = body.indexOf(CLOSE_BRACE, at);
    if (brace < 0 || brace >= to) return null;
    if (body[brace + 1] === COMMA && body[brace + 2] === OPEN_BRACE) return brace + 1;
    at = brace + 1;
  }
  return null;
}

/** Parses the list between two positions, with brackets written there temporarily. Null if it is not an array. */
function listBetween(body: Uint8Array, open: number, close: number): unknown[] | null {
  const [before, after] = [body[open]!, body[close]!];
  body[open] = OPEN_BRACKET;
  body[close] = CLOSE_BRACKET;
  const text = decodeUtf8(body.subarray(open, close + 1));
  body[open] = before;
  body[close] = after;
  const list = text === null ? null : parseJson(text);
  return Array.isArray(list) ? list : null;
}
