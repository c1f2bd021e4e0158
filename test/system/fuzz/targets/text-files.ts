import { CSV_FIELDS_MAX, CsvReader } from "../../../../src/lib/text/csv-reader.ts";
import { createLineReader } from "../../../../src/lib/text/lines.ts";
import { NUMBER_FIELDS, REPORT_FIELDS } from "../../../../src/model/location-fields.ts";
import { addReport } from "../../../../src/model/report.ts";
import { createReportBatchBuilder } from "../../../../src/model/report-batch.ts";
import { readReports } from "../../../unit/import/support/read-reports.ts";
import { rowsOf } from "../support/inputs/batch-rows.ts";
import { createDraw, type Draw } from "../support/inputs/draw.ts";
import { drawReport, TIMES } from "../support/inputs/draw-reports.ts";
import { pieces } from "../support/inputs/pieces.ts";
import { type PlainRecord, readPlainCsv } from "../support/inputs/plain-csv.ts";
import { mustEqual, type Target } from "../support/target.ts";

/*
 * Files to import. The readers look at bytes where they lie and in whatever pieces they come; what they find is what
 * plain readers find in the whole text.
 */

/** What a reader finds in the pieces. */
function readAll(
  draw: Draw,
  bytes: Uint8Array,
  reader: Pick<CsvReader, "push" | "end" | "next">,
  record: () => unknown,
): unknown[] {
  const found: unknown[] = [];
  const take = () => {
    while (reader.next()) found.push(record());
  };
  for (const piece of pieces(draw, bytes)) {
    reader.push(piece);
    take();
  }
  reader.end();
  take();
  return found;
}

export const csvFiles: Target = {
  name: "csv",
  bytesMax: 4096,
  seeds: () => [
    asFile("a,b\n1,2\n"),
    asFile('"x ""y""",\r\n\n"z\nz",1\n'),
    asFile("\uFEFFa,b\n"),
    asFile('"a"b,"c'),
  ],
  check(input) {
    const draw = createDraw(input);
    const cuts = createDraw(draw.bytes(16));
    const bytes = draw.chance(2) ? draw.rest() : csvOf(draw);
    const csv = new CsvReader();
    const found = readAll(cuts, bytes, csv, () => recordOf(csv));
    const expected = readPlainCsv(bytes, CSV_FIELDS_MAX).map(comparable);
    mustEqual(found, expected, "a reader finds what a plain one does");
  },
};

function recordOf(csv: CsvReader): unknown {
  const { fieldCount, bytes, starts, ends, escaped, fault, line } = csv;
  const fields = Array.from({ length: Math.min(fieldCount, CSV_FIELDS_MAX) }, (_, field) => {
    const text = Buffer.from(bytes.subarray(starts[field]!, ends[field]!)).toString("latin1");
    return escaped[field] === 1 ? text.replaceAll('""', '"') : text;
  });
  return comparable({ fields, fault: fault !== null, line });
}

/** Fields of a record that can't be read are anything. */
function comparable({ fields, fault, line }: PlainRecord): unknown {
  return fault ? { fault, line } : { fields, line };
}

function csvOf(draw: Draw): Uint8Array {
  const field = () => {
    const text = draw.chance(3) ? draw.text(20) : String(draw.upTo(999));
    return draw.chance(3) ? `"${draw.chance(8) ? text : text.replaceAll('"', '""')}"` : text;
  };
  const line = () => draw.list(5, field).join(",");
  return new TextEncoder().encode(draw.list(8, line).join(draw.pick(["\n", "\r\n", "\n\n"])));
}

function asFile(text: string): Uint8Array {
  return Uint8Array.from([0, 1, ...new TextEncoder().encode(text)]);
}

export const lineFiles: Target = {
  name: "lines",
  bytesMax: 4096,
  seeds: () => [asFile('{"a":1}\n\n{"b":2}\r\n'), asFile("\uFEFF1\n2")],
  check(input) {
    const draw = createDraw(input);
    const cuts = createDraw(draw.bytes(16));
    const bytes = draw.rest();
    const lines = createLineReader();
    const found = readAll(cuts, bytes, lines, () => [lines.line, lines.text()]);
    mustEqual(found, plainLines(bytes), "a reader finds what a plain one does");
  },
};

/** Lines that aren't blank with their numbers; null for one that is not UTF-8. */
function plainLines(bytes: Uint8Array): [number, string | null][] {
  const latin1 = Buffer.from(bytes)
    .toString("latin1")
    .replace(/^\u00EF\u00BB\u00BF/, "");
  const lines = latin1.split("\n").map((line, index): [number, string | null] => [index + 1, textOf(line)]);
  if (latin1.endsWith("\n") || latin1 === "") lines.pop();
  return lines.filter(([, text]) => text === null || text.trim() !== "");
}

function textOf(latin1: string): string | null {
  const bytes = Buffer.from(latin1, "latin1");
  const text = bytes.toString("utf8");
  return Buffer.from(text).equals(bytes) ? text : null;
}

const ROWS_MAX = 30;
/** Numbers that are none everywhere; and the same bytes with quotes around them and without, which say two texts. */
const ODD_NUMBERS = ["5.", ".5", "+1", "1e1", "0x1", " 1", "007", "-", "-0", "1_0", "NaN", '"1"', '"'];
const ODD_TEXTS = ['a""b', '"a""b"', 'a"b', '"a"b', "\uFEFFa"];
const HEADERS = [
  "device_id,timestamp,latitude,longitude",
  "timestamp_ms,speed_mps,longitude,latitude,device_id,note",
];

export const csvRows: Target = {
  name: "rows",
  bytesMax: 4096,
  seeds: () => [],
  check(input) {
    const draw = createDraw(input);
    const text = rowsText(draw);
    const bytes = new TextEncoder().encode(text);
    const reports = readReports("csv", pieces(draw, bytes), { times: TIMES });
    const expected = plainRows(bytes);
    if (expected === null)
      return mustEqual(reports.fault === null, false, "a header that can't be used is a fault");
    mustEqual(reports.fault, null, "a header that can be used is none");
    const rejected = reports.rejected.map(({ line }) => line);
    mustEqual(rejected, expected.rejected, "rows that no report can be made of are rejected");
    mustEqual(
      reports.batch === null ? [] : rowsOf(reports.batch),
      expected.rows,
      "rows become the reports that they say",
    );
  },
};

function rowsText(draw: Draw): string {
  if (draw.chance(8)) return draw.text(2000);
  const header = draw.chance(2)
    ? draw.pick(HEADERS)
    : `${HEADERS[0]},${draw.list(4, () => fieldName(draw)).join(",")}`;
  const names = header.split(",");
  const row = () => {
    const report = drawReport(draw);
    const field = (name: string) => report[name === "timestamp_ms" ? "timestamp" : name];
    const odd = (name: string) => draw.pick(name === "device_id" ? ODD_TEXTS : ODD_NUMBERS);
    return names.map((name) => (draw.chance(12) ? odd(name) : quoted(field(name)))).join(",");
  };
  return [header, ...draw.list(ROWS_MAX, row)].join("\n");
}

function fieldName(draw: Draw): string {
  return draw.pick(REPORT_FIELDS).name;
}

function quoted(value: unknown): string {
  const text = typeof value === "string" ? value : value == null ? "" : JSON.stringify(value);
  return /[",\r\n]/.test(text) ? `"${text.replaceAll('"', '""')}"` : text;
}

const DECIMAL = /^-?\d+(\.\d+)?([eE][+-]?\d+)?$/;
const OTHER_NAMES = new Map([
  ["timestamp_ms", "timestamp"],
  ["speed_mps", "speed"],
]);

/** The apostrophe that keeps a spreadsheet from running a text, or from taking it for none. */
const GUARD = /^'(?='*(?:[=+\-@\t\r]|$))/;

/** Each row as an object that is checked as one over HTTP is; null where the header can't be used. */
function plainRows(bytes: Uint8Array): { rows: unknown[][]; rejected: number[] } | null {
  const [header, ...records] = readPlainCsv(bytes, CSV_FIELDS_MAX);
  if (header === undefined || header.fault) return null;
  const headerTexts = header.fields.map(textOf);
  if (headerTexts.includes(null)) return null;
  const names = headerTexts.map((name) => OTHER_NAMES.get(name!) ?? name!);
  const fields = names.map((name) => REPORT_FIELDS.find((field) => field.name === name) ?? null);
  const known = names.filter((_, index) => fields[index] !== null);
  if (new Set(known).size < known.length) return null;
  if (REPORT_FIELDS.some(({ name, required }) => required && !known.includes(name))) return null;

  const builder = createReportBatchBuilder(1);
  const rejected: number[] = [];
  for (const record of records) {
    const report: Record<string, unknown> = {};
    let isReadable = !record.fault && record.fields.length === names.length;
    for (const [index, latin1] of record.fields.entries()) {
      const field = fields[index] ?? null;
      if (field === null || latin1 === "") continue;
      const text = textOf(latin1);
      if (text === null) isReadable = false;
      else report[field.name] = memberOf(field, text);
    }
    if (!isReadable || addReport(report, TIMES, builder) !== null) rejected.push(record.line);
  }
  return { rows: rowsOf(builder.build()), rejected };
}

function memberOf(field: (typeof REPORT_FIELDS)[number], text: string): unknown {
  const isNumber = field.column === "timestamp" || NUMBER_FIELDS.includes(field);
  if (isNumber) return DECIMAL.test(text) && text.length <= 64 ? Number(text) : text;
  if (field.type === "boolean") return ["true", "false"].includes(text) ? text === "true" : text;
  return text.replace(GUARD, "");
}
