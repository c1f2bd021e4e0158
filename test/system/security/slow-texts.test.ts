import { describe, expect, test } from "bun:test";
import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { isWellFormedKey } from "../../../src/auth/api-key.ts";
import { parseLabel } from "../../../src/auth/key-file.ts";
import { preferredCoding } from "../../../src/http/answer/compression.ts";
import { reportFormat } from "../../../src/http/body/read-reports.ts";
import type { Endpoint } from "../../../src/http/endpoint.ts";
import { ENDPOINTS } from "../../../src/http/endpoints.ts";
import { queryPairs, readQuery } from "../../../src/http/parameters/parameter.ts";
import { readPath, segmentsOf } from "../../../src/http/parameters/path-parameter.ts";
import { pathnameOf } from "../../../src/http/request.ts";
import { CsvReader } from "../../../src/lib/text/csv-reader.ts";
import { parseDecimal, parsePlainDecimal } from "../../../src/lib/text/decimal.ts";
import { parseDuration } from "../../../src/lib/text/duration.ts";
import { printable } from "../../../src/lib/text/printable.ts";
import { parseAppId } from "../../../src/model/ids.ts";
import { parseDate } from "../../../src/model/time/range.ts";
import { parseZone } from "../../../src/model/time/zone.ts";
import { createTestApp } from "../../support/test-app.ts";

/*
 * Goal: no text takes longer than its length warrants. Method: every regular expression of the source, collected
 * from it so that a new one is tried by itself, and every parser, against texts that make backtracking pay: what
 * almost matches, again and again. A text that takes many times what a plain pass over it takes is compared with one of
 * a sixteenth of its length, in the same run: how fast the machine is says nothing here.
 */

const LENGTH = 20_000;
const SHARE = 16;
const SHORT_LENGTH = LENGTH / SHARE;
/**
 * A text of 16 times the length takes 16 times as long, or 256 times where the time grows with the square. Between the
 * two: what fills more memory is slower by itself.
 */
const GROWTH_MAX = 64;
/** As many plain passes over a text are too few to tell how the time grows. A square of this length takes thousands. */
const PASSES_MIN = 100;
/** The same for requests, of what one with a short text takes. */
const REQUESTS_MIN = 20;
const REQUEST_LENGTH = 16_000;
/** The best of these counts: other processes take the processor away too. */
const TRIES = 20;
/** A text that seems slow is tried this often: a busy machine compiles late, and interrupts the first tries. */
const SUSPECT_TRIES = 40;

const PIECES = [
  "a",
  "A",
  "0",
  "9",
  " ",
  "\t",
  "\n",
  "-",
  "+",
  ".",
  "..",
  "/",
  ":",
  "_",
  "%",
  "%2",
  "&",
  "=",
  "&a=",
  ";",
  ",",
  ";q=",
  "(",
  "\\",
].concat([
  '"',
  "'",
  "\u00e9",
  "\u{1f68c}",
  "\u0000",
  "\u2028",
  "0.",
  "1e",
  "1.1",
  "a.",
  ".gz",
  "12:",
  "/+",
  "wh_",
  "aB0",
  "bearer ",
  "(os error 1",
]);
const STARTS = [
  "",
  "-",
  "+",
  ".",
  "a",
  "0",
  "1.",
  "1e",
  "wh_",
  "bearer ",
  "k_",
  "https://",
  "/",
  "2026-01-01",
  "+05:30",
  "00000001-000",
];
const ENDS = ["", "!", "\n"];

interface Attack {
  readonly text: string;
  /** The same of a sixteenth of the length. */
  readonly short: string;
}

/** Texts that consist of one piece, after a start that gets an expression going, before an end that it can't take. */
function* attacks(): Generator<Attack> {
  for (const piece of PIECES) {
    const [middle, shortMiddle] = [LENGTH, SHORT_LENGTH].map((length) => piece.repeat(length / piece.length));
    for (const start of STARTS)
      for (const end of ENDS) yield { text: start + middle + end, short: start + shortMiddle + end };
  }
}

const ATTACKS = [...attacks()];

/** The best time of so many tries, or the first that is below `enoughMs`. */
function bestMs(work: () => unknown, tries: number, enoughMs = 0): number {
  let best = Number.POSITIVE_INFINITY;
  for (let left = tries; left > 0 && best > enoughMs; left--) {
    const startedMs = performance.now();
    work();
    best = Math.min(best, performance.now() - startedMs);
  }
  return best;
}

function pass(text: string): number {
  let sum = 0;
  for (let index = 0; index < text.length; index++) sum += text.charCodeAt(index);
  return sum;
}

/** The first text whose time grows faster than its length, and by how much; null where none does. */
function slowText(take: (text: string) => unknown): string | null {
  const enoughMs = PASSES_MIN * bestMs(() => pass(ATTACKS[0]!.text), 5 * TRIES);
  for (const { text, short } of ATTACKS) {
    let longMs = bestMs(() => take(text), 2, enoughMs);
    if (longMs <= enoughMs) continue;
    let shortMs = bestMs(() => take(short), 2);
    for (let tries = 0; tries < SUSPECT_TRIES && longMs > GROWTH_MAX * shortMs; tries++) {
      longMs = Math.min(
        longMs,
        bestMs(() => take(text), 1),
      );
      shortMs = Math.min(
        shortMs,
        bestMs(() => take(short), 1),
      );
    }
    if (longMs > GROWTH_MAX * shortMs) return tooSlow(text, longMs / shortMs);
  }
  return null;
}

function tooSlow(text: string, growth: number): string {
  return `${JSON.stringify(text.slice(0, 60))}...: ${growth.toFixed(0)} times as long for ${SHARE} times the length`;
}

const SOURCE = join(import.meta.dir, "../../../src");
const sources = readdirSync(SOURCE, { recursive: true, encoding: "utf8" })
  .filter((path) => /\.(ts|js|mjs)$/.test(path))
  .map((path) => [path, readFileSync(join(SOURCE, path), "utf8")] as const);

/**
 * A literal stands where an expression begins; what comes after a word, a bracket or a quote is a division or a path.
 */
const LITERAL =
  /(?:[=(,:[!&|?;{}]|return|=>)\s*\/(?![/*])((?:[^/\\\n[]|\\.|\[(?:[^\]\\\n]|\\.)*\])+)\/([dgimsuvy]*)/g;

const literals = sources.flatMap(([path, text]) =>
  [...text.replaceAll(/^\s*(\/\/|\*|\/\*).*$/gm, "").matchAll(LITERAL)].map(([, body, flags]) => ({
    name: `${path} /${body}/${flags}`,
    expression: new RegExp(body!, flags),
  })),
);

describe("regular expressions", () => {
  test("are found, all of them, in the source", () => {
    expect(literals.length).toBeGreaterThanOrEqual(30);
    for (const known of [
      "^[\\x21-\\x7e]{1,128}$",
      "^[A-Za-z0-9._-]{1,64}$",
      "^-?\\d+(\\.\\d+)?$",
      "^[\\w-]{0,64}$",
    ]) {
      expect(
        literals.some(({ expression }) => expression.source === known),
        known,
      ).toBeTrue();
    }
    const made = sources.filter(([, text]) => text.includes("new RegExp(")).map(([path]) => path);
    // Tried below, by what they serve.
    expect(made.sort()).toEqual(["auth/api-key.ts", "auth/key-file.ts", "http/unrouted.ts"]);
  });

  test.each(literals.map(({ name, expression }) => [name, expression] as const))(
    "%s takes no longer than a text is long",
    (_name, expression) => {
      expect(slowText((text) => text.replace(expression, ""))).toBeNull();
      expect(slowText((text) => expression.test(text))).toBeNull();
    },
  );

  test("this test notices one that backtracks", () => {
    const zeros = "0".repeat(SHORT_LENGTH);
    expect(slowText((text) => text.startsWith(zeros) && /[0-9]+x$/.test(text))).toContain("0000");
  });
});

const encoder = new TextEncoder();
/** Names of queries' parameters, and what parses one. */
const seen = new Set<unknown>();
const PARSERS: Readonly<Record<string, (text: string) => unknown>> = {
  isWellFormedKey,
  parseLabel,
  parseAppId,
  parseDuration,
  parseDate,
  parseZone,
  parsePlainDecimal,
  parseDecimal: (text) => parseDecimal(encoder.encode(text), 0, text.length),
  preferredCoding,
  reportFormat,
  printable,
  pathnameOf: (text) => pathnameOf(`http://localhost/${text}`),
  ...Object.assign({}, ...ENDPOINTS.map(parsersOf)),
  CsvReader: (text) => {
    const reader = new CsvReader();
    reader.push(encoder.encode(text));
    reader.end();
    while (reader.next()) if (reader.fault === null) reader.text(reader.fieldCount - 1);
  },
};

/** What reads the path, the query and each parameter of an endpoint, but for what one before it has too. */
function parsersOf({ method, path, pathParameters, query }: Endpoint): typeof PARSERS {
  const name = `${method} ${path}`;
  const segments = segmentsOf(path, pathParameters);
  const filled = (text: string) => `http://localhost${path.replaceAll(/:\w+/g, () => text)}`;
  const parsers: Record<string, (text: string) => unknown> = {};
  if (path.includes(":")) parsers[`${name}, its path`] = (text) => readPath(filled(text), segments, {});
  if (isNew(Object.keys(query).join()))
    parsers[`${name}, its query`] = (text) => readQuery(`http://localhost/x?${text}`, query);
  for (const [parameter, { parse }] of Object.entries(query))
    if (isNew(parse)) parsers[`${name}, ${parameter}`] = (text) => parse(parameter, text);
  return parsers;
}

function isNew(tried: unknown): boolean {
  const before = seen.size;
  return seen.add(tried).size > before;
}

test.each(Object.keys(PARSERS))("%s takes no longer than a text is long", (name) => {
  expect(slowText(PARSERS[name]!)).toBeNull();
});

/** So long that a search of the whole rest for each piece shows, however fast the runtime searches. */
const QUERY_LENGTH = 320_000;

test.each(["&", "a&", "=", "=&", "a=&", "+&", "%&", "%2C&", "?", "#"])(
  "a query of many %s is read in a time that grows with its length",
  (piece) => {
    const [long, short] = [QUERY_LENGTH, QUERY_LENGTH / SHARE].map(
      (length) => `http://localhost/x?${piece.repeat(length / piece.length)}`,
    ) as [string, string];
    let growth = Number.POSITIVE_INFINITY;
    for (let tries = 0; tries < TRIES && growth > GROWTH_MAX; tries++)
      growth = bestMs(() => queryPairs(long), 2) / bestMs(() => queryPairs(short), 2);
    expect(growth).toBeLessThan(GROWTH_MAX);
  },
);

/** Requests with a text, or as much of it, wherever one can stand. */
function requestsWith(text: string, key: string): [string, RequestInit][] {
  const headers = { authorization: `Bearer ${key}` };
  const latin = text.replaceAll(/[^\x21-\x7e]/g, "");
  return [
    [`/${text}`, { headers }],
    [`/api/v1/devices/${text}/locations/current`, { headers }],
    [`/api/v1/locations/current?${text}`, { headers }],
    ["/api/v1/locations/current", { headers: { authorization: `Bearer ${latin}` } }],
    [
      "/api/v1/locations/current",
      { headers: { ...headers, "accept-encoding": latin, "x-request-id": latin, origin: latin } },
    ],
  ];
}

test("a request is refused in a time that grows with its length, wherever a long text stands in it", async () => {
  const app = await createTestApp();
  const { full: key } = app.keys;
  async function timeOf([path, init]: [string, RequestInit], tries: number, enoughMs = 0): Promise<number> {
    let best = Number.POSITIVE_INFINITY;
    for (let left = tries; left > 0 && best > enoughMs; left--) {
      const startedMs = performance.now();
      await (await app.fetch(path, init)).arrayBuffer();
      best = Math.min(best, performance.now() - startedMs);
    }
    return best;
  }
  const plain = requestsWith("a", key)[0]!;
  const enoughMs = REQUESTS_MIN * (await timeOf(plain, 5 * TRIES));
  const chosen = ATTACKS.filter((_, index) => index % 13 === 0).map(({ text }) =>
    encodeURI(text.toWellFormed()).replaceAll("#", "").slice(0, REQUEST_LENGTH),
  );
  for (const text of chosen) {
    const shorts = requestsWith(text.slice(0, REQUEST_LENGTH / SHARE), key);
    for (const [index, request] of requestsWith(text, key).entries()) {
      let longMs = await timeOf(request, 2, enoughMs);
      if (longMs <= enoughMs) continue;
      let shortMs = await timeOf(shorts[index]!, 2);
      for (let tries = 0; tries < SUSPECT_TRIES && longMs > GROWTH_MAX * shortMs; tries++) {
        longMs = Math.min(longMs, await timeOf(request, 1));
        shortMs = Math.min(shortMs, await timeOf(shorts[index]!, 1));
      }
      const slow = longMs > GROWTH_MAX * shortMs ? tooSlow(request[0], longMs / shortMs) : null;
      expect(slow).toBeNull();
    }
  }
});
