import { createKeyText, hashKey, isWellFormedKey } from "../../../../src/auth/api-key.ts";
import { ENDPOINTS } from "../../../../src/http/endpoints.ts";
import { answerError } from "../../../../src/http/errors.ts";
import { type Parameter, readQuery } from "../../../../src/http/parameters/parameter.ts";
import { readPath, segmentsOf } from "../../../../src/http/parameters/path-parameter.ts";
import { pathnameOf } from "../../../../src/http/request.ts";
import { parseDate } from "../../../../src/model/time/range.ts";
import { createDraw, type Draw } from "../support/inputs/draw.ts";
import { must, mustEqual, type Target } from "../support/target.ts";

/** What a request says before its body: path, query and key. All of it is a stranger's. */

const ORIGIN = "http://127.0.0.1:3000";
const SETS = ENDPOINTS.map(({ query }) => query).filter((query) => Object.keys(query).length > 0);
const WITH_IDS = ENDPOINTS.filter(({ pathParameters }) => Object.keys(pathParameters).length > 0);
const VALUES = [
  ...[
    "",
    "0",
    "-0",
    "007",
    "1.5",
    "1e2",
    "0x10",
    "+5",
    " 5",
    "NaN",
    "Infinity",
    "90.0000001",
    "9223372036854775807",
  ],
  ...[
    "9223372036854775808",
    "-9223372036854775808",
    "true",
    "asc",
    "Europe/Berlin",
    "+05:30",
    "UTC",
    "2026-02-29",
  ],
  ...[
    "2024-02-29",
    "0000-00-00",
    "9999-12-31",
    "2026-1-2",
    "0000000000000000005",
    "00000000000000000.5",
    "0000000000000000e1",
  ],
];

export const queries: Target = {
  name: "queries",
  bytesMax: 1024,
  seeds: () => [],
  check(input) {
    const draw = createDraw(input);
    const set = draw.pick(SETS);
    const names = Object.keys(set);
    const pair = () =>
      `${draw.pick([...names, "unknown"])}=${draw.chance(2) ? draw.pick(VALUES) : rawText(draw)}`;
    const query = draw.list(6, pair).join("&");
    const read = readQuery(`${ORIGIN}/api?${query}`, set);
    const given = new URLSearchParams(query.split("#", 1)[0]);
    if (!read.ok) return mustEqual(answerError(read.error).status, 400, "a fault is a 400");
    for (const name of names) {
      const texts = given.getAll(name);
      const isOnce = texts.length <= 1 || set[name]!.parseAll !== undefined;
      must(isOnce, "a parameter is given once where it can be", () => [query, name]);
      const value = (read.value as Record<string, unknown>)[name];
      if (typeof value === "number") mustBeWithin(value, texts[0], set[name]!, query);
      if (typeof value === "string" && name.endsWith("_date"))
        mustEqual(parseDate(value), texts[0], "a date is itself");
    }
  },
};

/** What a number parameter says is a plain decimal within the bounds that the document shows. */
function mustBeWithin(
  value: number,
  text: string | undefined,
  { schema }: Pick<Parameter<unknown>, "schema">,
  query: string,
): void {
  const {
    minimum = Number.NEGATIVE_INFINITY,
    maximum = Number.POSITIVE_INFINITY,
    type,
  } = schema as Record<string, number>;
  must(value >= minimum && value <= maximum, "a number is within its bounds", () => [value, query]);
  if (text === undefined) return;
  must(/^-?\d+(\.\d+)?$/.test(text), "a number is written in plain decimals", () => [value, query]);
  mustEqual(value, Number(text), "a number is the one that was written");
  must(String(type) !== "integer" || Number.isInteger(value), "an integer is one", () => [value, query]);
}

export const paths: Target = {
  name: "paths",
  bytesMax: 512,
  seeds: () => [],
  check(input) {
    const draw = createDraw(input);
    const id = draw.text(40);
    const part = draw.chance(2) ? encodeURIComponent(id) : rawText(draw);
    const { path, pathParameters } = draw.pick(WITH_IDS);
    const filled = path.replaceAll(/:\w+/g, () => part);
    const url = `${draw.pick([ORIGIN, "http://", "http://[", "https://a.b"])}${filled}`;
    const pathname = pathnameOf(url);
    must(pathname.startsWith("/") && !/[?#]/.test(pathname), "a path is that and no more", () => [
      url,
      pathname,
    ]);
    const values: Record<string, unknown> = {};
    const fault = readPath(url, segmentsOf(path, pathParameters), values);
    const isEncoded = part === encodeURIComponent(id);
    if (fault !== null) {
      must(/^invalid/.test(fault.kind), "a fault is a 400", () => fault);
      const refuses = Object.values(pathParameters).some(
        ({ refusal, schema }) =>
          refusal !== null || schema.type === "integer" || schema.maxLength !== undefined,
      );
      return must(!isEncoded || refuses, "an encoded id is read, unless it is refused", () => [id, fault]);
    }
    for (const [name, value] of Object.entries(values)) {
      must(String(value).isWellFormed(), "an id is well formed", () => [url, value]);
      if (typeof value === "number")
        mustBeWithin(value, isEncoded ? id : undefined, pathParameters[name]!, url);
      else if (isEncoded) mustEqual(value, id, "an id in a path is itself");
    }
  },
};

/** Bytes as a runtime may hand them over: some percent-encoded, some as they are. */
function rawText(draw: Draw): string {
  return draw
    .list(12, () =>
      draw.pick([
        "%",
        "%2",
        "%00",
        "%E9",
        "%F0%9F%9A%8C",
        "+",
        "&",
        "=",
        ";",
        "a",
        "é",
        "?",
        "#",
        "%2E",
        ".",
      ]),
    )
    .join("");
}

const KEY = createKeyText();
const KEY_CHARACTERS = "0129AZaz_-wh \n\u00E9";

export const keyTexts: Target = {
  name: "key-texts",
  bytesMax: 256,
  seeds: () => [],
  check(input) {
    const draw = createDraw(input);
    let text = draw.chance(4) ? draw.text(60) : KEY;
    for (let changes = draw.upTo(3); changes > 0; changes--) {
      const at = draw.upTo(text.length);
      text = text.slice(0, at) + draw.pick([...KEY_CHARACTERS, ""]) + text.slice(at + draw.upTo(2));
    }
    mustEqual(isWellFormedKey(text), text === KEY, `a key with any change is none: ${text}`);
    mustEqual(hashKey(text) === hashKey(KEY), text === KEY, "no other text has its hash");
  },
};
