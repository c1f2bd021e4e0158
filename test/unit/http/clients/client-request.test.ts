import { expect, test } from "bun:test";
import { createKeyText } from "../../../../src/auth/api-key.ts";
import { credentialsOf } from "../../../../src/http/clients/client-request.ts";

/** Every way in which some client sends a key: the specification of client paths, §2. */

const KEY = createKeyText();
const OTHER = createKeyText();

function of(authorization: string | null, pathKey: string | null = null, query = "") {
  return credentialsOf(authorization, pathKey, new URLSearchParams(query));
}

const basic = (text: string) => `Basic ${Buffer.from(text).toString("base64")}`;
const only = (basicUser: string | null = null) => ({ keyTexts: [KEY], basicUser });

test.each([
  ["a bearer token", `Bearer ${KEY}`, null],
  ["a bearer token, in other letters", `bEARER  ${KEY}`, null],
  ["a password", basic(`anna:${KEY}`), "anna"],
  ["a password without a name", basic(`:${KEY}`), null],
  ["a password beside a name that isn't ASCII", basic(`Zoë:${KEY}`), "Zoë"],
  ["a name with an empty password", basic(`${KEY}:`), null],
  ["a name without a password", basic(KEY), null],
  ["a name and a password", basic(`${KEY}:${KEY}`), null],
  ["a name and a password that were not encoded", `Basic ${KEY}:`, null],
  ["a name that was not encoded", `basic ${KEY}`, null],
] as const)("a key is read from %s", (_name, authorization, basicUser) => {
  expect(of(authorization)).toEqual(only(basicUser));
});

test("a key is read from the path and from the query, under either name", () => {
  expect(of(null, KEY)).toEqual(only());
  expect(of(null, null, `api_key=${KEY}&lat=1`)).toEqual(only());
  expect(of(null, null, `token=${KEY}`)).toEqual(only());
});

test("blanks beside a key are no part of it", () => {
  expect(of(basic(`anna:${KEY} `))).toEqual(only("anna"));
  expect(of(basic(`anna: ${KEY}`), `${KEY}\n`, `token=+${KEY}`)).toEqual(only("anna"));
  expect(of(null, " ")).toEqual({ keyTexts: [], basicUser: null });
});

test("the same key in every place is one key, and an empty place is none", () => {
  expect(of(basic(`anna:${KEY}`), KEY, `api_key=${KEY}&api_key=${KEY}&token=&token=${KEY}`)).toEqual(
    only("anna"),
  );
  expect(of(basic("anna:"), KEY)).toEqual(only("anna"));
  expect(of("Bearer ", KEY)).toEqual(only());
});

test("another key in any place is told", () => {
  for (const given of [
    of(`Bearer ${OTHER}`, KEY),
    of(basic(`anna:${OTHER}`), KEY),
    of(basic(`${KEY}:${OTHER}`)),
    of(`Basic ${KEY}:${OTHER}`),
    of(null, KEY, `api_key=${OTHER}`),
    of(null, null, `api_key=${KEY}&api_key=${OTHER}`),
    of(null, null, `api_key=${KEY}&token=${OTHER}`),
    of("Bearer of-a-proxy", KEY),
  ]) {
    expect(given.keyTexts).toHaveLength(2);
  }
});

test("what is no key and no name says nothing", () => {
  for (const authorization of [
    null,
    "",
    "Bearer",
    "Basic",
    "Digest x",
    `Token ${KEY}`,
    KEY,
    "Basic =",
    basic(":"),
  ]) {
    expect(of(authorization)).toEqual({ keyTexts: [], basicUser: null });
  }
});
