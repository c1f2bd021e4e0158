/**
 * Question: would `csv-parse` read our imports fast enough?
 *
 * `bun bench/tools/csv-readers.ts [FILE.csv[.gz] ...]`, or with `deno run --allow-read`, from the project's directory,
 * reads the files and a table of full reports with these readers in turns: ours as in the import, a bare `csv-parse`,
 * and one with the features that the import needs: the position of each record, for resuming and for naming lines.
 * Bytes come in chunks of 256 KiB, as files are read. Fields are counted and measured, to check that all readers agree,
 * but no reports are created.
 */
import { readFileSync } from "node:fs";
import { basename } from "node:path";
import process from "node:process";
import { Readable } from "node:stream";
import { pipeline } from "node:stream/promises";
import { setImmediate } from "node:timers/promises";
import { gunzipSync } from "node:zlib";
import { type InfoRecord, type Options, parse } from "csv-parse";
import { ROW_BYTES_MAX } from "../../src/formats/read/push-reader.ts";
import { assert } from "../../src/lib/assert.ts";
import { CsvReader } from "../../src/lib/text/csv-reader.ts";
import { type Figure, figureLines } from "../support/figures/report.ts";
import { createFleet, type FullReport } from "../support/fleets/fleet.ts";

const PIECE_BYTES = 256 * 1024;
const ROUNDS = 5;
const FULL_REPORTS = 100_000;

/** The totals of a reader. */
interface Found {
  rows: number;
  fields: number;
  /** The size of all fields in bytes; the files are ASCII. */
  size: number;
}

type Read = (pieces: readonly Uint8Array[]) => Found | Promise<Found>;

interface Located {
  readonly info: InfoRecord;
  readonly record: readonly string[];
}

const READERS: Readonly<Record<string, Read>> = {
  ours: readWithOurs,
  "csv-parse": (pieces) => readWithCsvParse(pieces, {}, (record: readonly string[]) => record),
  "csv-parse as the import needs it": (pieces) =>
    readWithCsvParse(
      pieces,
      { info: true, bom: true, relax_column_count: true, relax_quotes: true, max_record_size: ROW_BYTES_MAX },
      ({ record, info }: Located) => {
        assert(info.bytes > 0 && info.lines > 0, "each record has its place");
        return record;
      },
    ),
};

const files = process.argv.slice(2).map((path) => [basename(path), readPlain(path)] as const);
for (const [name, bytes] of [...files, ["full reports", fullReports()] as const]) await compare(name, bytes);

function readPlain(path: string): Uint8Array {
  const bytes = readFileSync(path);
  return path.endsWith(".gz") ? gunzipSync(bytes) : bytes;
}

function fullReports(): Uint8Array {
  const fleet = createFleet({ devices: FULL_REPORTS, seed: 1, startMs: 1_790_000_000_000, stepMs: 1000 });
  const reports = fleet.round(0);
  const lines = [Object.keys(reports[0]!).join(","), ...reports.map(lineOf)];
  return new TextEncoder().encode(`${lines.join("\n")}\n`);
}

function lineOf(report: FullReport): string {
  const texts = Object.values(report).map(String);
  return texts.map((text) => (text.includes(",") ? `"${text}"` : text)).join(",");
}

async function compare(name: string, bytes: Uint8Array): Promise<void> {
  const pieces: Uint8Array[] = [];
  for (let start = 0; start < bytes.length; start += PIECE_BYTES)
    pieces.push(bytes.subarray(start, start + PIECE_BYTES));
  const figures = Object.keys(READERS).map((reader) => ({
    name: reader,
    unit: "rows/s",
    runs: [] as number[],
  })) satisfies Figure[];
  let first: Found | null = null;
  for (let round = 0; round < ROUNDS; round++) {
    for (const figure of figures) {
      await setImmediate();
      const startMs = performance.now();
      const found = await READERS[figure.name]!(pieces);
      figure.runs.push(found.rows / ((performance.now() - startMs) / 1000));
      first ??= found;
      assert(JSON.stringify(found) === JSON.stringify(first), `${figure.name} reads what the others read`);
    }
  }
  const { rows, fields } = first!;
  console.log(
    `${name}: ${rows.toLocaleString("en")} rows of ${Math.round(fields / rows)} fields, header included`,
  );
  for (const line of figureLines(figures)) console.log(`  ${line}`);
}

function readWithOurs(pieces: readonly Uint8Array[]): Found {
  const found: Found = { rows: 0, fields: 0, size: 0 };
  const csv = new CsvReader();
  const readAll = () => {
    while (csv.next()) {
      found.rows++;
      found.fields += csv.fieldCount;
      for (let field = 0; field < csv.fieldCount; field++)
        found.size += csv.ends[field]! - csv.starts[field]!;
    }
  };
  for (const piece of pieces) {
    csv.push(piece);
    readAll();
  }
  csv.end();
  readAll();
  return found;
}

async function readWithCsvParse<Parsed>(
  pieces: readonly Uint8Array[],
  options: Options,
  recordOf: (parsed: Parsed) => readonly string[],
): Promise<Found> {
  const found: Found = { rows: 0, fields: 0, size: 0 };
  const parser = parse(options);
  parser.on("data", (parsed: Parsed) => {
    const record = recordOf(parsed);
    found.rows++;
    found.fields += record.length;
    for (const text of record) found.size += text.length;
  });
  await pipeline(Readable.from(pieces), parser);
  return found;
}
