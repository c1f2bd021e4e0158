import { expect, test } from "bun:test";
import { AT_START, folded, NameSearch, NO_MATCH, WITHIN } from "../../../../src/web/devices/name-search.ts";
import * as fc from "../../../support/fast-check.ts";

/** Few letters, so that much is found; some take more room, or less, when they are folded, and one ends a line. */
const texts = fc.string({
  unit: fc.constantFrom("a", "A", "b", "é", "İ", "ß", "\n", "1", "🚌"),
  maxLength: 4,
});

test("NameSearch finds what looking at each name finds, also in names that come later", () => {
  fc.assert(
    fc.property(fc.array(texts), fc.array(texts), texts, (first, later, query) => {
      const search = new NameSearch();
      search.search(first, query);
      const names = [...first, ...later];
      expect([...search.search(names, query)]).toEqual(names.map((name) => matchOf(name, query)));
    }),
  );
});

test("cleared, it finds nothing of the names before", () => {
  const search = new NameSearch();
  search.search(["bus", "van"], "van");
  search.clear();
  expect([...search.search(["car"], "van")]).toEqual([NO_MATCH]);
  expect([...search.search(["car", "my van"], "van")]).toEqual([NO_MATCH, WITHIN]);
});

/** The obvious way. */
function matchOf(name: string, query: string): number {
  const at = folded(name).indexOf(folded(query));
  return at < 0 ? NO_MATCH : at === 0 ? AT_START : WITHIN;
}
