import { describe, expect, test } from "bun:test";
import { filtersOverlap, isTopicFilter } from "../../../../src/service/mqtt/topic-filter.ts";
import * as fc from "../../../support/fast-check.ts";

describe("isTopicFilter()", () => {
  test.each(["owntracks/+/+", "a", "/a/b", "a//b", "#", "+", "a/#", "/", "a b/ä"])("takes %p", (filter) => {
    expect(isTopicFilter(filter)).toBe(true);
  });

  test.each(["", "a/#/b", "a#", "a+/b", "+a", "$SYS/#", "$share/g/a", "a\0b"])("refuses %p", (filter) => {
    expect(isTopicFilter(filter)).toBe(false);
  });

  test("refuses one that is longer than the protocol allows", () => {
    expect(isTopicFilter("x".repeat(65_535))).toBe(true);
    expect(isTopicFilter("x".repeat(65_536))).toBe(false);
  });
});

/** By the rules of MQTT, level by level. */
function matches(filter: readonly string[], topic: readonly string[]): boolean {
  const [level, ...rest] = filter;
  if (level === "#") return true;
  if (level === undefined || topic.length === 0) {
    return topic.length === 0 && (level === undefined || (level === "#" && rest.length === 0));
  }
  if (level !== "+" && level !== topic[0]) return false;
  if (topic.length === 1 && rest.length === 1 && rest[0] === "#") return true;
  return matches(rest, topic.slice(1));
}

test("filtersOverlap() says whether some topic matches both", () => {
  const level = fc.constantFrom("a", "b", "+");
  const filters = fc
    .tuple(fc.array(level, { minLength: 1, maxLength: 3 }), fc.boolean())
    .map(([levels, isOpen]) => (isOpen ? [...levels, "#"] : levels));
  // Every topic of up to five levels of these words: longer ones tell nothing more of such filters.
  let topics: string[][] = [[]];
  const all: string[][] = [];
  for (let length = 1; length <= 5; length++) {
    topics = topics.flatMap((topic) => ["a", "b"].map((word) => [...topic, word]));
    all.push(...topics);
  }
  fc.assert(
    fc.property(filters, filters, (a, b) => {
      const isMet = all.some((topic) => matches(a, topic) && matches(b, topic));
      expect(filtersOverlap(a.join("/"), b.join("/"))).toBe(isMet);
    }),
    { numRuns: 500 },
  );
});
