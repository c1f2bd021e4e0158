import { describe, expect, test } from "bun:test";
import { CsvReader } from "../../../src/lib/text/csv-reader.ts";
import { parseDecimal } from "../../../src/lib/text/decimal.ts";
import { addReport } from "../../../src/model/report.ts";
import { createReportBatchBuilder, type ReportBatch } from "../../../src/model/report-batch.ts";
import * as fc from "../../support/fast-check.ts";
import { BASE_MS } from "../../support/reports/arbitrary-reports.ts";
import {
  faultOf,
  openReports,
  type ReadReports,
  type ReportsSetting,
  readReports,
} from "./support/read-reports.ts";

const encoder = new TextEncoder();
const TIMES = { oldestMs: BASE_MS - 1000, newestMs: BASE_MS + 1000 };

/** Cuts the bytes into pieces at these places, which may repeat. */
function cut(bytes: Uint8Array, places: readonly number[]): Uint8Array[] {
  const ends = [...places.map((place) => place % (bytes.length + 1)), bytes.length].sort((a, b) => a - b);
  return ends.map((end, i) => bytes.subarray(ends[i - 1] ?? 0, end));
}

function readRecords(pieces: readonly Uint8Array[]) {
  const csv = new CsvReader();
  const records: { line: number; fault: string | null; fields: (string | null)[] }[] = [];
  const readAll = () => {
    while (csv.next()) {
      const fields = Array.from({ length: csv.fieldCount }, (_, field) => csv.text(field));
      records.push({ line: csv.line, fault: csv.fault, fields });
    }
  };
  for (const piece of pieces) {
    csv.push(piece);
    readAll();
  }
  csv.end();
  readAll();
  return records;
}

const readText = (text: string) => readRecords([encoder.encode(text)]);

/** A field and one of the ways to write it. */
const arbitraryField = fc
  .tuple(
    fc.string({ unit: fc.constantFrom("a", "é", "\u{1F68C}", " ", ",", '"', "\n", "\r\n") }),
    fc.boolean(),
  )
  .map(([value, likesQuotes]) => {
    const needsQuotes = /[",\n\r]/.test(value);
    const written = needsQuotes || likesQuotes ? `"${value.replaceAll('"', '""')}"` : value;
    return { value, written, lineEnds: value.split("\n").length - 1 };
  });
const arbitraryTable = fc.array(fc.array(arbitraryField, { minLength: 2, maxLength: 5 }), { maxLength: 6 });
const arbitraryCuts = fc.array(fc.nat(), { maxLength: 12 });

describe("CsvReader", () => {
  test("reads back what was written, in whatever pieces it comes", () => {
    fc.assert(
      fc.property(
        arbitraryTable,
        fc.constantFrom("\n", "\r\n"),
        fc.boolean(),
        fc.boolean(),
        arbitraryCuts,
        (table, lineEnd, hasMark, endsLine, cuts) => {
          const lines = table.map((record) => record.map(({ written }) => written).join(","));
          const text = lines.join(lineEnd) + (endsLine && lines.length > 0 ? lineEnd : "");
          const bytes = encoder.encode((hasMark ? "\uFEFF" : "") + text);
          let line = 1;
          const expected = table.map((record) => {
            const at = line;
            line += 1 + record.reduce((sum, { lineEnds }) => sum + lineEnds, 0);
            return { line: at, fault: null, fields: record.map(({ value }) => value) };
          });
          expect(readRecords(cut(bytes, cuts))).toEqual(expected);
        },
      ),
    );
  });

  test("leaves out empty lines and counts them", () => {
    expect(readText("\n\r\na,b\n\n\nc,d").map(({ line }) => line)).toEqual([3, 6]);
  });

  test("takes a quote inside an unquoted field for a character", () => {
    expect(readText('a 5" screen,b')[0]).toEqual({ line: 1, fault: null, fields: ['a 5" screen', "b"] });
  });

  test("says what is wrong with quotes, and goes on at the next line", () => {
    const [first, second, third] = readText('"a"b,c\nd,e\n"f,g\nh,i');
    expect(first).toMatchObject({ line: 1, fault: "a quoted field is followed by more text" });
    expect(second).toEqual({ line: 2, fault: null, fields: ["d", "e"] });
    expect(third).toMatchObject({ line: 3, fault: "a quote is never closed" });
  });

  test("says that a record is too wide", () => {
    const [wide, next] = readText(`${",".repeat(1024)}\na,b`);
    expect(wide).toMatchObject({ fault: "it has more than 1024 fields" });
    expect(next).toMatchObject({ line: 2, fault: null, fields: ["a", "b"] });
  });

  test("text() is null where a field is not valid UTF-8", () => {
    expect(readRecords([new Uint8Array([0x61, 0x2c, 0xff, 0x0a])])[0]?.fields).toEqual(["a", null]);
  });
});

describe("parseDecimal()", () => {
  const parse = (text: string) => {
    const bytes = encoder.encode(`1,${text},1`);
    return parseDecimal(bytes, 2, bytes.length - 2);
  };

  test("gives the double that Number gives", () => {
    const written = fc.oneof(
      fc.double({ noNaN: true, noDefaultInfinity: true }).map(String),
      fc.tuple(fc.integer(), fc.nat(999_999_999)).map(([whole, part]) => `${whole}.${part}`),
      fc.bigInt({ min: -(10n ** 25n), max: 10n ** 25n }).map(String),
      fc
        .tuple(fc.maxSafeInteger(), fc.integer({ min: 0, max: 15 }))
        .map(([digits, places]) => (digits / 10 ** places).toFixed(places)),
    );
    fc.assert(
      fc.property(written, (text) => {
        const plain = text.replace("e+", "e");
        expect(parse(plain)).toBe(Number(plain));
      }),
      { numRuns: 2000 },
    );
  });

  test("takes JSON's numbers and leading zeros", () => {
    const taken = {
      "-0": -0,
      "007.50": 7.5,
      "1e3": 1000,
      "-5e-05": -0.00005,
      "1.5E+2": 150,
      "1669078099000.0": 1669078099000,
    };
    for (const [text, value] of Object.entries(taken)) expect(parse(text)).toBe(value);
  });

  test("refuses everything else", () => {
    const refused = [
      "",
      "-",
      "+1",
      ".5",
      "5.",
      "1.2.3",
      "1,5",
      " 1",
      "1 ",
      "0x10",
      "1e",
      "NaN",
      "Infinity",
      "1_000",
      "--1",
      "1-",
      "١",
      "1".repeat(65),
    ];
    for (const text of refused) expect(parse(text), text).toBeNaN();
  });
});

function readAll(pieces: readonly Uint8Array[], setting: Partial<ReportsSetting> = {}) {
  const read = readReports("csv", pieces, { times: TIMES, ...setting });
  return { ...read, reports: read.batch === null ? [] : reportsOf(read.batch) };
}

/** The batch by rows, with everything that it carries. */
function reportsOf(batch: ReportBatch) {
  return Array.from({ length: batch.count }, (_, row) => ({
    device: batch.texts[batch.device[row]!],
    timestampMs: batch.timestampMs[row],
    numbers: batch.numbers.map((column) => column[row]),
    profile: tupleTexts(
      batch,
      batch.profiles,
      batch.profile[row]!,
      batch.profiles.length / (Math.max(...batch.profile) + 1),
    ),
    state: tupleTexts(
      batch,
      batch.states,
      batch.state[row]!,
      batch.states.length / (Math.max(...batch.state) + 1),
    ),
  }));
}

function tupleTexts({ texts }: ReportBatch, tuples: Uint32Array, tuple: number, width: number) {
  return [...tuples.subarray(tuple * width, (tuple + 1) * width)].map((text) =>
    text === 0 ? null : texts[text],
  );
}

function readCsv(text: string, setting: Partial<ReportsSetting> = {}) {
  return readAll([encoder.encode(text)], setting);
}

describe("createCsvReports()", () => {
  /** Mostly good values, so that many rows have nothing but those and take the short way. */
  const mostly = (good: readonly string[], bad: readonly string[]) =>
    fc.oneof(
      { weight: 30, arbitrary: fc.constantFrom(...good) },
      { weight: 1, arbitrary: fc.constantFrom(...bad) },
    );
  const times = [0, 1, 2, -1000, 1000].map((step) => `${BASE_MS + step}`);
  const wrongTimes = [".5", ".0"].map((part) => `${BASE_MS}${part}`);
  wrongTimes.push(`${BASE_MS - 1001}`, `${BASE_MS + 1001}`, "1700000000", "1.76e12", "", "now");
  const columns = {
    device_id: mostly(["a", "ä", 'q"q'], ["", "x".repeat(129), "a\u0000"]),
    timestamp_ms: mostly(times, wrongTimes),
    latitude: mostly(["42.36", "-90", "-0"], ["90.0001", "", "north"]),
    longitude: mostly(["-71.05", "180", "1e2", "-0.0"], ["-180.5", "181"]),
    speed_mps: mostly(["", "8.3"], ["-1"]),
    altitude: mostly(["", "19.5"], ["1e9"]),
    is_mock: mostly(["", "true"], ["yes", "1 h"]),
    type: mostly(["", "1 h"], ["x".repeat(129)]),
    tz_offset: mostly(["", "+3600"], ["1 h"]),
    user_id: mostly(["", "u", "v"], ["w w"]),
    odd: fc.constantFrom("", "7"),
  };
  const names = Object.keys(columns) as (keyof typeof columns)[];
  const quoted = (value: string) => (/[",\n\r]/.test(value) ? `"${value.replaceAll('"', '""')}"` : value);

  /** The obvious way: an object a row, and `addReport`. */
  function readObviously(rows: readonly Record<string, string>[], userId: string | null, shiftMs: number) {
    const batch = createReportBatchBuilder(rows.length);
    const rejected: ReadReports["rejected"][number][] = [];
    const numeric = ["timestamp_ms", "latitude", "longitude", "speed_mps", "altitude"];
    const fileTimes = { oldestMs: TIMES.oldestMs - shiftMs, newestMs: TIMES.newestMs - shiftMs };
    for (const [index, row] of rows.entries()) {
      const report: Record<string, unknown> = { user_id: userId };
      for (const [name, text] of Object.entries(row)) {
        if (text === "") continue;
        const value = numeric.includes(name) && Number.isFinite(Number(text)) ? Number(text) : text;
        const parsed = name === "is_mock" && (text === "true" || text === "false") ? text === "true" : value;
        report[name.replace(/_ms$|_mps$/, "")] = parsed;
      }
      const message = addReport(report, fileTimes, { ...batch, add: (d, t) => batch.add(d, t + shiftMs) });
      if (message !== null) rejected.push({ line: index + 2, message });
    }
    return { reports: reportsOf(batch.build()), rejected };
  }

  test("agrees with making an object of every row", () => {
    fc.assert(
      fc.property(
        fc.array(fc.record(columns), { maxLength: 150, size: "max" }),
        fc.constantFrom(null, "someone"),
        fc.constantFrom(0, 86_400_000),
        arbitraryCuts,
        (table, userId, shiftMs, cuts) => {
          const rows = table.map((row) => ({ ...row, odd: row.odd }));
          const text = [
            names.join(","),
            ...rows.map((row) => names.map((name) => quoted(row[name])).join(",")),
          ].join("\n");
          const read = readAll(cut(encoder.encode(text), cuts), { userId, shiftMs });
          const expected = readObviously(rows, userId, shiftMs);
          expect(read.reports).toEqual(expected.reports);
          expect(read.rejected).toEqual(expected.rejected);
        },
      ),
      { numRuns: 150 },
    );
  });

  const HEADER = "device_id,timestamp_ms,latitude,longitude";
  const row = (device: string) => `${device},${BASE_MS},42.36,-71.05`;

  test("names the lines of reports and of rejected rows", () => {
    const read = readCsv(
      `${HEADER}\n${row("a")}\n\n"b\n",1,2,3\n${row("c")}\nshort\n${row("d")},more\n${row("e")}`,
    );
    expect(read.lines).toEqual([2, 6, 9]);
    expect(read.rejected).toEqual([
      { line: 4, message: "device_id must not contain control characters" },
      { line: 7, message: "it has 1 fields, the header has 4" },
      { line: 8, message: "it has 5 fields, the header has 4" },
    ]);
  });

  test("says once which columns it ignores", () => {
    expect(readCsv(`received_ms,${HEADER},note\n1,${row("a")},x\n2,${row("b")},y`).ignored).toEqual([
      "received_ms",
      "note",
    ]);
  });

  test("gives the user to reports that name none", () => {
    const read = readCsv(`${HEADER},user_id\n${row("a")},\n${row("b")},own`, { userId: "someone" });
    expect(read.reports.map(({ profile }) => profile[0])).toEqual(["someone", "own"]);
    expect(readCsv(`${HEADER}\n${row("a")}`, { userId: "someone" }).reports[0]?.profile[0]).toBe("someone");
  });

  test("tells a doubled quote from two quotes in a field without", () => {
    const fields = `${BASE_MS},42.36,-71.05`;
    const read = readCsv(`${HEADER}\nq""q,${fields}\n"q""q",${fields}\nq""q,${fields}`);
    expect(read.reports.map(({ device }) => device)).toEqual(['q""q', 'q"q', 'q""q']);
  });

  test("checks times before it shifts them, so that seconds stay refused", () => {
    const text = `${HEADER}\n${row("a")}\n${row("a").replace("000,", ",")}`;
    const times = { oldestMs: 0, newestMs: BASE_MS * 2 };
    const { rejected } = readCsv(text, { shiftMs: 86_400_000, times });
    expect(rejected).toEqual([{ line: 3, message: expect.stringContaining("this looks like seconds") }]);
  });

  test("refuses a file whose header can't be used", () => {
    expect(readCsv("").fault).toBe("it is empty: a header line is expected");
    const right = "a header looks like this: device_id,timestamp,latitude,longitude,speed";
    expect(readCsv("device_id,latitude\na,1").fault).toBe(
      `the header on line 1 lacks timestamp, longitude; ${right}`,
    );
    expect(readCsv("device_id,timestamp,lat,lon\na,1,2,3").fault).toBe(
      `the header on line 1 lacks latitude, longitude, and "lat", "lon" are not fields of a report; ${right}`,
    );
    expect(readCsv("a,b,c,d,e,f,g,h,i,j").fault).toContain(
      ' "g", "h" and 2 more are not fields of a report; ',
    );
    expect(readCsv(right.slice("a header looks like this: ".length)).fault).toBeNull();
    expect(readCsv(`${HEADER},timestamp\n`).fault).toBe("the header has timestamp twice");
    expect(readCsv(`constructor,"${HEADER}`).fault).toBe("the header can't be read: a quote is never closed");
    expect(readCsv(HEADER).fault).toBeNull();
  });

  test("refuses a row without an end", () => {
    const { reader } = openReports("csv", { times: TIMES });
    reader.push(encoder.encode(`${HEADER}\n${row("a")}\n"b`));
    const more = new Uint8Array(1024 * 1024).fill(0x2c);
    expect(faultOf(() => reader.push(more))).toBe("line 3 is longer than 1 MiB");
  });
});
