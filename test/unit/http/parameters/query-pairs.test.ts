import { expect, test } from "bun:test";
import { queryPairs } from "../../../../src/http/parameters/parameter.ts";
import * as fc from "../../../support/fast-check.ts";

const PIECES = [
  ..."ab=&+?% ",
  ...["%2C", "%2c", "%26", "%3D", "%2B", "%20", "%zz", "%2", "%00", "é", "latitude,longitude"],
  ...["%C3%A9", "%E2%82", "%EF%BB%BF", "%ED%A0%80", "%F0%9F%9A%8C", "%FF"],
];
const queries = fc.array(fc.constantFrom(...PIECES), { maxLength: 12 }).map((pieces) => pieces.join(""));

test("a query is read as the standard reads it, up to a fragment", () => {
  fc.assert(
    fc.property(queries, fc.constantFrom("", "#", "#a=b&c"), (query, fragment) => {
      const { names, texts } = queryPairs(`http://127.0.0.1/path?${query}${fragment}`);
      const read = names.map((name, at) => [name, texts[at]]);
      expect(read).toEqual([...new URLSearchParams(`?${query}`)]);
    }),
    { numRuns: 5000 },
  );
});

test("a path without a query has no parameters, whatever its fragment has", () => {
  expect(queryPairs("http://127.0.0.1/path").names).toEqual([]);
  expect(queryPairs("http://127.0.0.1/path?#a=b").names).toEqual([]);
});
