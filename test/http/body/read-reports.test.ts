import { describe, expect, setDefaultTimeout, test } from "bun:test";
import fc from "fast-check";
import { type ReportFormat, readReports } from "../../../src/http/body/read-reports.ts";
import type { Steps } from "../../../src/lib/schedule/steps.ts";
import { PIECE_BYTES_MAX } from "../../../src/lib/text/long-json.ts";
import { UNBOUND } from "../../../src/model/binding.ts";
import { addReport } from "../../../src/model/report.ts";
import {
  BATCH_REPORTS_MAX,
  createReportBatchBuilder,
  type ReportBatch,
} from "../../../src/model/report-batch.ts";
import { ENTRY_REPORTS_MAX } from "../../../src/model/report-batches.ts";

/*
 * Goal: whatever a body holds, it is read as parsing the whole of it would read it, in steps that are all short.
 * Method: bodies long enough that nothing reads them in one piece, of reports good and bad, wrapped and changed in all
 * kinds of ways, read by the server's reader and by the obvious one below.
 */

setDefaultTimeout(60_000);

const TIMES = { oldestMs: 1_000_000_000_000, newestMs: 2_000_000_000_000 };
const RULES = { times: TIMES, binding: UNBOUND };
const NOW_MS = 1_800_000_000_000;
const encoder = new TextEncoder();

interface Outcome {
  readonly error?: string;
  readonly rows?: readonly unknown[];
  readonly rejected?: readonly unknown[];
}

function read(body: Uint8Array, format: ReportFormat): Outcome {
  const { value } = stepped(readReports(body, format, RULES));
  if (!value.ok) return { error: "message" in value.error ? value.error.message : value.error.kind };
  const { batches, rejected } = value.value;
  for (const { count } of batches.slice(0, -1)) expect(count).toBe(ENTRY_REPORTS_MAX);
  return { rows: batches.flatMap(rowsOf), rejected };
}

function stepped<Value>(steps: Steps<Value>): { value: Value; count: number } {
  for (let count = 1; ; count++) {
    const { done, value } = steps.next();
    if (done === true) return { value, count };
  }
}

function rowsOf({
  count,
  texts,
  device,
  timestampMs,
  numbers,
  profiles,
  profile,
  states,
  state,
}: ReportBatch) {
  const textsOf = (tuples: Uint32Array, tuple: number, all: number) => {
    const width = tuples.length / all;
    return [...tuples.subarray(tuple * width, (tuple + 1) * width)].map((text) =>
      text === 0 ? null : texts[text],
    );
  };
  const [profileCount, stateCount] = [1 + Math.max(...profile, 0), 1 + Math.max(...state, 0)];
  return Array.from({ length: count }, (_, row) => [
    texts[device[row]!],
    timestampMs[row],
    numbers.map((column) => column[row]),
    textsOf(profiles, profile[row]!, profileCount),
    textsOf(states, state[row]!, stateCount),
  ]);
}

/** The same by parsing the whole at once. */
function readPlainly(body: Uint8Array, format: ReportFormat): Outcome {
  if (body.length === 0) return { error: "the body is empty" };
  return format === "json" ? readJsonPlainly(body) : readLinesPlainly(body);
}

function readJsonPlainly(body: Uint8Array): Outcome {
  const text = decoded(body);
  if (text === null) return { error: "the body is not valid UTF-8" };
  const parsed = parse(text);
  if (parsed === undefined) return { error: "the body is not valid JSON: it cannot be parsed" };
  if (Array.isArray(parsed))
    return {
      error:
        'the body is a bare array: send {"locations":[...]} around it, or one report a line as application/x-ndjson',
    };
  if (typeof parsed !== "object" || parsed === null)
    return { error: 'the body must be {"locations":[...]} or one report' };
  const { locations } = parsed as { locations?: unknown };
  if (locations !== undefined && !Array.isArray(locations))
    return { error: "locations must be an array of reports" };
  return outcomeOf((locations ?? [parsed]).map((value: unknown) => ({ value })));
}

function readLinesPlainly(body: Uint8Array): Outcome {
  const lines = Buffer.from(body).toString("latin1").split("\n");
  const full = lines.filter((line) => /[^ \t\r]/.test(line));
  return outcomeOf(
    full.map((line) => {
      const text = decoded(Buffer.from(line.replace(/^[ \t\r]+/, ""), "latin1"));
      if (text === null) return { fault: "the line is not valid UTF-8" };
      const value = parse(text);
      return value === undefined ? { fault: "the line is not valid JSON: it cannot be parsed" } : { value };
    }),
  );
}

function outcomeOf(reports: readonly { readonly value?: unknown; readonly fault?: string }[]): Outcome {
  if (reports.length > BATCH_REPORTS_MAX) return { error: "at most 10,000 reports fit in one request" };
  const builder = createReportBatchBuilder(1);
  const rejected: object[] = [];
  reports.forEach(({ value, fault }, index) => {
    const message = fault ?? addReport(value, TIMES, builder);
    if (message === null) return;
    const deviceId = (value as { device_id?: unknown } | null | undefined)?.device_id;
    const isShown = typeof deviceId === "string" && deviceId.length <= 256;
    rejected.push({ index, message, ...(isShown ? { deviceId } : {}) });
  });
  return { rows: rowsOf(builder.build()), rejected };
}

function decoded(bytes: Uint8Array): string | null {
  try {
    return new TextDecoder("utf-8", { fatal: true }).decode(bytes);
  } catch {
    return null;
  }
}

function parse(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}

/** Texts that look like what the reader cuts at, and what has to be escaped. */
const nasty = fc.oneof(
  fc.constantFrom('},{"', '"}]},{', "]}", "\\", "é😀\u2028", "\ufeff", "{", "locations", ""),
  fc.string({ unit: "binary", maxLength: 20 }).filter((text) => text.isWellFormed()),
);
const long = fc.nat({ max: 3 }).map((kind) => {
  const count = PIECE_BYTES_MAX + 10;
  return [
    '"'.concat("x".repeat(count), '"'),
    `[${"[],".repeat(count / 2)}1]`,
    `{"a":"${"\\n".repeat(count)}"}`,
    `${" ".repeat(count)}7`,
  ][kind]!;
});
const value = fc.oneof(
  { weight: 6, arbitrary: nasty.map((text) => JSON.stringify(text)) },
  { weight: 3, arbitrary: fc.json({ maxDepth: 2 }) },
  {
    weight: 2,
    arbitrary: fc.constantFrom("1", "-0", "1e3", "null", "true", "{}", "[[]]", '"+1"', String(NOW_MS)),
  },
  { weight: 1, arbitrary: long },
);
const name = fc.constantFrom(
  "device_id",
  "user_id",
  "speed",
  "brand",
  "os",
  "timestamp",
  "x",
  "__proto__",
  "is_mock",
  "\\u0073peed",
  "locations",
);
const member = fc.tuple(name, value).map(([key, text]) => `"${key}":${text}`);
const report = fc
  .tuple(fc.nat({ max: 5 }), fc.array(member, { maxLength: 3 }))
  .map(
    ([device, more]) =>
      `{"device_id":"bus-${device}","timestamp":${NOW_MS},"latitude":1.5,"longitude":2${more.map((each) => `,${each}`).join("")}}`,
  );
const element = fc.oneof({ weight: 12, arbitrary: report }, { weight: 1, arbitrary: value });

/** Enough of them that they are no single piece, parted by what JSON allows. */
const elements = fc
  .tuple(
    fc.array(element, { minLength: 1, maxLength: 12 }),
    fc.constantFrom(",", ",", ", ", ",\n"),
    fc.nat({ max: 2 }),
  )
  .map(([some, comma, pieces]) => {
    const once = some.join(comma);
    const times = Math.ceil((pieces * PIECE_BYTES_MAX) / once.length) + 1;
    return Array.from({ length: times }, () => once).join(comma);
  });
const wrapped = fc.tuple(elements, fc.nat({ max: 10 }), report, value).map(([list, how, one, other]) => {
  switch (how) {
    case 0:
      return `{"locations":[${list}],"more":${other}}`;
    case 1:
      return `{"more":${other},"locations":[${list}]}`;
    case 2:
      return `{"locations":${other},"locations":[${list}]}`;
    case 3:
      return `{"locations":[${list}],"locations":${other}}`;
    case 4:
      return `{"loc\\u0061tions":[${list}]}`;
    case 5:
      return `[${list}]`;
    case 6:
      return `${one.slice(0, -1)},"x":[${list}]}`;
    case 7:
      return `{"locations":[${list}]}${other.slice(0, 1)}`;
    default:
      return `{"locations":[${list}]}`;
  }
});
const PIECES = ["{", "}", "[", "]", ",", ":", '"', "\\", "0", " ", "\n", "\ufeff", "},{", '"x":1', "é"];
/** In most bodies nothing is changed, or one place. */
const changed = (texts: fc.Arbitrary<string>) =>
  fc
    .tuple(texts, fc.nat(), fc.constantFrom(...PIECES), fc.nat({ max: 3 }), fc.nat({ max: 2 }))
    .map(([text, where, piece, cut, how]) => {
      const at = where % (text.length + 1);
      return how === 0 ? text.slice(0, at) + piece + text.slice(at + cut) : text;
    });
const bytesOf = (texts: fc.Arbitrary<string>) =>
  fc
    .tuple(texts, fc.nat(), fc.constantFrom(null, null, null, 0xff, 0x80, 0xc3))
    .map(([text, where, byte]) => {
      const bytes = encoder.encode(text);
      if (byte !== null && bytes.length > 0) bytes[where % bytes.length] = byte;
      return bytes;
    });

describe("readReports()", () => {
  test("reads JSON as parsing the whole of it does", () => {
    fc.assert(
      fc.property(bytesOf(changed(wrapped)), (body) => {
        expect(read(body, "json")).toEqual(readPlainly(body, "json"));
      }),
      { numRuns: 400 },
    );
  });

  test("reads lines as parsing each of them does", () => {
    const lines = fc
      .array(fc.oneof(element, fc.constantFrom("", " \r", "\ufeff{}", "nope")), { maxLength: 30 })
      .map((all) => all.map((line) => line.replaceAll("\n", " ")).join("\n"));
    fc.assert(
      fc.property(bytesOf(changed(lines)), (body) => {
        expect(read(body, "ndjson")).toEqual(readPlainly(body, "ndjson"));
      }),
      { numRuns: 400 },
    );
  });

  const line = `{"device_id":"bus","timestamp":${NOW_MS},"latitude":1,"longitude":2}`;
  test.each([BATCH_REPORTS_MAX, BATCH_REPORTS_MAX + 1])(
    "counts %d reports, however they are parted",
    (count) => {
      for (const comma of [",", " ,", ",\n"]) {
        const body = encoder.encode(
          `{"locations":[${Array.from({ length: count }, () => line).join(comma)}]}`,
        );
        const { error, rows } = read(body, "json");
        expect(error ?? rows?.length).toBe(
          count > BATCH_REPORTS_MAX ? "at most 10,000 reports fit in one request" : count,
        );
      }
    },
  );

  /** Every body, of 2 MB, that takes the engines' parsers long for what it is. */
  const BYTES = 2_000_000;
  const HOSTILE: [string, string][] = [
    ["objects", `{"locations":[${"{},".repeat(BYTES / 3)}{}]}`],
    ["arrays", `{"x":[${"[],".repeat(BYTES / 3)}[]]}`],
    ["arrays in arrays", "[".repeat(BYTES / 2) + "]".repeat(BYTES / 2)],
    ["objects in objects", `${'{"a":'.repeat(BYTES / 6)}1${"}".repeat(BYTES / 6)}`],
    ["members", `{${Array.from({ length: BYTES / 10 }, (_, index) => `"${index}":0`).join()}}`],
    ["members of one name", `{"x":0${',"device_id":0'.repeat(BYTES / 14)}}`],
    ["numbers", `{"locations":[${"1,".repeat(BYTES / 2)}1]}`],
    ["a number", `{"device_id":"a","timestamp":1${"0".repeat(BYTES)}}`],
    ["escapes", `{"device_id":"${"\\u0041".repeat(BYTES / 6)}"}`],
    ["white space", " ".repeat(BYTES)],
    ["blank lines", "\n".repeat(BYTES)],
    [
      "reports of one long member each",
      `{"locations":[${`{"x":"${"[".repeat(9000)}"},`.repeat(BYTES / 9010)}1]}`,
    ],
    ["lines of brackets", `${"[".repeat(PIECE_BYTES_MAX - 1)}\n`.repeat(BYTES / PIECE_BYTES_MAX)],
    ["lines", "{}\n".repeat(9999)],
  ];
  test.each(HOSTILE)("cuts %s into steps", (_what, text) => {
    const body = encoder.encode(text);
    for (const format of ["json", "ndjson"] as const) {
      const { value, count } = stepped(readReports(body, format, RULES));
      const stopsEarly = !value.ok || (format === "ndjson" && value.value.rejected.length === 0);
      // A step reads as much as is parsed at once, or walks over as much.
      if (!stopsEarly) expect(count).toBeGreaterThan(body.length / (2 * PIECE_BYTES_MAX));
    }
  });
});
