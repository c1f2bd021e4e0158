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
 * Reads a list of reports as most clients write it: from its bytes, one after the other. Where a report can't be read
 * so, the list is cut behind it, or behind some more, and what lies before the cut is parsed.
 */

/**
 * Null where the body is something else, which costs no more than what was read of it. It is cut without looking at
 * what lies around the cut, which is as good as parsing the whole: where every piece between brackets is an array, so
 * are all of them with commas between, and a cut that hit a text or the inside of a report leaves a piece that is none.
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
/** So much before the first report, behind the last and between two is looked at; it is mostly blanks. */
const EDGE_BYTES_MAX = 64;

/** Where the bracket lies that opens the list; null where the body begins with something else. */
function startOfList({ buffer, byteOffset, byteLength }: Uint8Array): number | null {
  const edge = Buffer.from(buffer, byteOffset, Math.min(byteLength, EDGE_BYTES_MAX));
  const head = LIST_HEAD.exec(edge.toString("latin1"));
  return head === null ? null : head[0].length - 1;
}

/** Where the bracket lies that is the last of the body but for a brace; null where it ends in something else. */
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
  /** Of the first report: others are mostly alike. */
  readonly #reportBytes: number;
  /** The bracket or comma behind what is read. */
  #open: number;
  /** What is parsed at least where a report can't be read. */
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

  /** False where it is no list of reports that can be read so. */
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

  /** Takes in what was read, if a comma or the end of the list comes behind it. */
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
    const isEmpty = reports?.length === 0 && this.collected.count > 0; // Behind a comma there is one at least.
    if (reports === null || isEmpty) return false;
    reports.forEach((report, index) => {
      this.collected.add(report, following - index);
    });
    this.#open = close!;
    // Where one of a few can't be read, trying it with each would take longer than parsing them all.
    this.#parsedBytesMin = Math.min(4 * this.#parsedBytesMin + 1024, PARSED_BYTES_MIN_MAX);
    return true;
  }

  #afterBlanks(from: number): number {
    return afterWhite(this.#body, from, from + EDGE_BYTES_MAX);
  }
}

/** Rows that are left over cost less than too few. */
const SPARE = 1.1;

/** A report or two of the usual size before a piece is full: each piece costs some microseconds. */
const PARSED_BYTES_MIN_MAX = (3 / 4) * PIECE_BYTES_MAX;

/** The comma behind the first report that ends there before another; null where none does. */
function cutAfter(body: Uint8Array, from: number, to: number): number | null {
  for (let at = from; at < to; ) {
    const brace = body.indexOf(CLOSE_BRACE, at);
    if (brace < 0 || brace >= to) return null;
    if (body[brace + 1] === COMMA && body[brace + 2] === OPEN_BRACE) return brace + 1;
    at = brace + 1;
  }
  return null;
}

/** What lies between two places of a list, parsed; brackets stand there for as long. Null where that is no array. */
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
