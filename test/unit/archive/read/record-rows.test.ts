import { expect, test } from "bun:test";
import { createPageDictionary } from "../../../../src/archive/read/record-rows.ts";

test("profileOf() and stateOf() number tuples apart from each other, and the same ones alike", () => {
  const dictionary = createPageDictionary();
  const [first, second] = [JSON.stringify(["u", null, 'q"uote']), JSON.stringify(["", "null", "\u{1F68C}"])];
  const profiles = [first, second, first].map((json) => dictionary.profileOf(json));
  expect(profiles[0]).toBe(profiles[2]!);
  expect(profiles[0]).not.toBe(profiles[1]!);
  expect([0, 1, 2].map((member) => dictionary.profileText(profiles[0]!, member))).toEqual([
    "u",
    null,
    'q"uote',
  ]);
  const state = dictionary.stateOf(second);
  expect([0, 1, 2].map((member) => dictionary.stateText(state, member))).toEqual(["", "null", "\u{1F68C}"]);
});

test("isFull comes before the presenters' caches by dictionary grow without end", () => {
  const dictionary = createPageDictionary();
  for (let tuple = 0; tuple < 16_383; tuple++) dictionary.profileOf(`["${tuple}"]`);
  expect(dictionary.isFull).toBe(false);
  dictionary.stateOf('["MOVING"]');
  expect(dictionary.isFull).toBe(true);
  expect(dictionary.profileText(5, 0)).toBe("5"); // Pages that name it go on reading it.
});

test("isFull comes earlier where texts are long", () => {
  const dictionary = createPageDictionary();
  const long = "x".repeat(3990);
  for (let tuple = 0; tuple < 1000; tuple++) {
    expect(dictionary.isFull).toBe(false);
    dictionary.profileOf(JSON.stringify([`${tuple}`.padStart(6, "0"), long]));
  }
  expect(dictionary.isFull).toBe(true);
});
