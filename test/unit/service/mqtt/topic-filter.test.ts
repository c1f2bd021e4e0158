import { describe, expect, test } from "bun:test";
import {
  filtersBeside,
  filtersOverlap,
  isTopicFilter,
  UnheardTopics,
} from "../../../../src/service/mqtt/topic-filter.ts";
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

describe("filtersBeside()", () => {
  test.each([
    ["owntracks/+/+", ["owntracks/+", "owntracks/+/+/+/#", "/owntracks/+/+"]],
    ["owntracks/anna/+", ["owntracks/anna", "owntracks/anna/+/+/#", "/owntracks/anna/+"]],
    ["owntracks/#", ["/owntracks/#"]],
    ["a/b/#", ["/a/b/#"]],
    ["+/+/+", ["+/+", "+/+/+/+/#"]],
    ["/owntracks/+/+", ["/owntracks", "/owntracks/+", "/owntracks/+/+/+/#"]],
    ["#", []],
  ])("of %p is %j", (filter, beside) => {
    expect(filtersBeside(filter)).toEqual(beside);
  });

  test("takes no topic that the filter takes: the broker may send what two filters take twice", () => {
    for (const filter of [
      "owntracks/+/+",
      "owntracks/anna/+",
      "owntracks/#",
      "+/+/+",
      "/owntracks/+/+",
      "a/b/c/d",
    ])
      for (const beside of filtersBeside(filter))
        expect([filter, beside, filtersOverlap(filter, beside)]).toEqual([filter, beside, false]);
  });
});

test("UnheardTopics counts positions alone, names a few topics, and tells each depth once", () => {
  const unheard = new UnheardTopics();
  const encoder = new TextEncoder();
  const location = encoder.encode('{"_type":"location"}');
  expect(unheard.note("owntracks/pixel", location)).toBe(true);
  expect(unheard.note("owntracks/moto", encoder.encode('{"_type":"encrypted","data":""}'))).toBe(false);
  expect(unheard.note("owntracks/a/b/c", location)).toBe(true);
  expect(unheard.note("owntracks/a/b/event", location)).toBe(false);
  expect(unheard.note("owntracks/a", encoder.encode('{"_type":"lwt"}'))).toBe(false);
  expect(unheard.note("owntracks/a", encoder.encode("on"))).toBe(false);
  for (let number = 0; number < 20; number++) unheard.note(`owntracks/${number}`, location);
  expect(unheard.count).toBe(23);
  expect(unheard.topics).toEqual([
    "owntracks/pixel",
    "owntracks/moto",
    "owntracks/a/b/c",
    "owntracks/0",
    "owntracks/1",
  ]);
});

test("UnheardTopics tells of a few depths, however many topics a publisher makes up", () => {
  const location = new TextEncoder().encode('{"_type":"location"}');
  const deep = new UnheardTopics();
  const tellings = Array.from({ length: 100 }, (_, at) =>
    deep.note(`owntracks${"/a".repeat(at + 4)}`, location),
  );
  expect(tellings.filter(Boolean)).toHaveLength(5);
  const long = new UnheardTopics();
  const topic = `owntracks/${"a".repeat(200)}/b/c/d`;
  expect([long.note(topic, location), long.note(topic, location)]).toEqual([true, false]);
  const wide = new UnheardTopics();
  for (let number = 0; number < 20; number++) wide.note(`owntracks/${number}`, location);
  expect([wide.note("owntracks/a/b/c", location), wide.note("owntracks/a/b/d", location)]).toEqual([
    true,
    false,
  ]);
});
