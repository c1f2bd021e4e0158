import { describe, expect, test } from "bun:test";
import { filtersOverlap } from "../../../../src/service/mqtt/topic-filter.ts";
import { filtersBeside, UnheardTopics } from "../../../../src/service/mqtt/unheard-topics.ts";

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
