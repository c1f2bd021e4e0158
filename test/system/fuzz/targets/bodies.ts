import type { ReadReports } from "../../../../src/http/body/collect-reports.ts";
import { type ReportFormat, readReports } from "../../../../src/http/body/read-reports.ts";
import { PIECE_BYTES_MAX } from "../../../../src/lib/text/long-json.ts";
import { UNBOUND } from "../../../../src/model/binding.ts";
import { addReport } from "../../../../src/model/report.ts";
import { createReportBatchBuilder } from "../../../../src/model/report-batch.ts";
import { rowsOf } from "../support/inputs/batch-rows.ts";
import { changeJson } from "../support/inputs/change-json.ts";
import { createDraw, type Draw } from "../support/inputs/draw.ts";
import { drawReport, TIMES } from "../support/inputs/draw-reports.ts";
import { must, mustEqual, type Target } from "../support/target.ts";

/* Bodies with reports: what is read is what JSON.parse and a check of each report alone make of them. */

const encoder = new TextEncoder();

export const jsonBodies: Target = {
  name: "json",
  bytesMax: 4096,
  seeds: () => [
    asBody('{"locations":[]}'),
    asBody('{"locations":[{"device_id":"a"}],"locations":[]}'),
    asBody("[[[["),
  ],
  check(input) {
    const draw = createDraw(input);
    const body = bodyOf(draw, (reports) =>
      JSON.stringify(reports.length === 1 && draw.chance(2) ? reports[0] : { locations: reports }),
    );
    const expected = plainJson(body);
    const read = readWhole(body, "json");
    mustEqual(
      readWhole(Buffer.concat([body, BLANKS]), "json"),
      body.length === 0 ? BLANK : read,
      "blanks behind it are nothing",
    );
    if (body[0] !== MARK)
      mustEqual(
        readWhole(Buffer.concat([BLANKS, body]), "json"),
        body.length === 0 ? BLANK : read,
        "nor are blanks before it",
      );
    if (expected === null)
      return must(!read.ok && read.error.kind === "body_unreadable", "a body is refused");
    must(read.ok, "a body is read", () => read);
    mustBeReports(read.value, expected);
  },
};

export const ndjsonBodies: Target = {
  name: "ndjson",
  bytesMax: 4096,
  seeds: () => [asBody('{"device_id":"a"}\n\n[]\r\n'), asBody("\n \n"), asBody('\uFEFF{"a":1}\n')],
  check(input) {
    const body = bodyOf(createDraw(input), (reports, draw) =>
      reports.map((report) => JSON.stringify(report)).join(draw.pick(["\n", "\r\n", "\n \n"])),
    );
    const read = readWhole(body, "ndjson");
    if (body.length === 0) return must(!read.ok, "an empty body is refused");
    must(read.ok, "a body is read", () => read);
    mustBeReports(read.value, plainNdjson(body));
  },
};

/** They make a body too long to be parsed at once. */
const BLANKS = Buffer.alloc(PIECE_BYTES_MAX, " ");
const BLANK = readWhole(BLANKS, "json");
const MARK = 0xef; // A byte order mark is one at the beginning alone.

function readWhole(body: Uint8Array, format: ReportFormat) {
  const steps = readReports(body, format, { times: TIMES, binding: UNBOUND });
  for (;;) {
    const { done, value } = steps.next();
    if (done === true) return value;
  }
}

function bodyOf(
  draw: Draw,
  encode: (reports: Record<string, unknown>[], draw: Draw) => string,
): Uint8Array<ArrayBuffer> {
  const how = draw.upTo(2);
  if (how === 0) return draw.rest();
  const text = encode(
    draw.list(6, () => drawReport(draw)),
    draw,
  );
  if (how === 1) return encoder.encode(text);
  try {
    return encoder.encode(changeJson(draw, text));
  } catch {
    return encoder.encode(text); // Several lines are no one JSON value.
  }
}

function plainJson(body: Uint8Array): unknown[] | null {
  const value = parse(body);
  if (typeof value !== "object" || value === null || Array.isArray(value)) return null;
  const { locations } = value as { locations?: unknown };
  if (locations === undefined) return [value];
  return Array.isArray(locations) ? locations : null;
}

function plainNdjson(body: Uint8Array): unknown[] {
  const lines = Buffer.from(body).toString("latin1").split("\n");
  const filled = lines.filter((line) => /[^ \t\r]/.test(line));
  return filled.map((line) => parse(Buffer.from(line, "latin1")));
}

/** Undefined where it is no JSON. */
function parse(bytes: Uint8Array): unknown {
  try {
    return JSON.parse(new TextDecoder("utf-8", { fatal: true }).decode(bytes));
  } catch {
    return undefined;
  }
}

function mustBeReports({ batches, rejected }: ReadReports, expected: readonly unknown[]): void {
  const builder = createReportBatchBuilder(1);
  const bad = expected.flatMap((report, index) =>
    addReport(report, TIMES, builder) === null ? [] : [index],
  );
  mustEqual(
    rejected.map(({ index }) => index),
    bad,
    "reports that can't be taken are rejected",
  );
  mustEqual(batches.flatMap(rowsOf), rowsOf(builder.build()), "reports are what they say");
}

function asBody(text: string): Uint8Array {
  return Uint8Array.from([0, ...encoder.encode(text)]);
}
